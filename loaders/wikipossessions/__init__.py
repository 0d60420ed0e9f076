"""WikiPossessions: who possessed an artifact, in which order, and when?"""
