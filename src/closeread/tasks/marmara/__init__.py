"""The Marmara Turkish Coreference Corpus: its files, converters, statistics and baseline (Schüller et al., 2018)."""
