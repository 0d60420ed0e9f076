"""The Hugging Face Hub: repositories, pull requests, and what closeread publishes there."""
