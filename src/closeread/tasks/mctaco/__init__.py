"""McTaco: is this answer temporally plausible?"""
