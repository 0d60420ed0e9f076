"""WikiPossessions: who possessed a work of art, in which order, and when?"""
