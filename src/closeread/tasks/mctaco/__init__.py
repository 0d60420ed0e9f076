"""McTaco: is a candidate answer temporally plausible?"""
