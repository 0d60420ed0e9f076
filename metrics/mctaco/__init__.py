"""The evaluate module of the McTaco scores."""
