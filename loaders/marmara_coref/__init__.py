"""Marmara Turkish Coreference: which mentions of a Turkish text refer to the same entity?"""
