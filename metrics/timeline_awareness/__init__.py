"""TimeLine's temporal awareness."""
