"""Adjudication: the chains that explain several annotators' best (Schüller, 2018)."""
