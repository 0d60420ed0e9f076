"""The invented documents of the Marmara corpus that come with the package."""

from pathlib import Path

SAMPLE = Path(__file__).parents[2] / "loaders" / "marmara_coref" / "sample"
DOCUMENTS = ("77000112", "77000208", "77000345", "77000467", "77000589", "77000603")
ANNOTATIONS = sorted(SAMPLE.glob("annotations/*/*.conll"))


def treebank_files(folder="treebank"):
    """The sample's treebank, extracted or as fragments, by file name."""
    return {path.name: path for path in sorted((SAMPLE / folder).iterdir())}
