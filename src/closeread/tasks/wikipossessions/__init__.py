"""WikiPossessions: who possessed an artifact, when, and in which order?"""
