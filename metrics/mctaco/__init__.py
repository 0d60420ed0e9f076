"""The evaluate module of McTaco's scores."""
