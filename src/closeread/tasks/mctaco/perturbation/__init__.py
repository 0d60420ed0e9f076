"""How McTaco was built: candidate answers by rules, masks and retrieval, and unit normalization (pure functions)."""
