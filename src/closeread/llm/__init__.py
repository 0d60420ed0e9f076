"""Language models on the corpora: questions, answers, inspect-ai's tasks and their logs."""
