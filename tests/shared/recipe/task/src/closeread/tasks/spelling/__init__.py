"""Spelling: which word was meant?"""
