"""The only room that knows Hugging Face's libraries."""
