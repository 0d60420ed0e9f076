"""WikiPossessions: who held an artifact, when, and in which order?"""
