"""McTaco: is this answer to a question about time plausible?"""
