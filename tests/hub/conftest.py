"""What the tests of the Hub's room share: a stand-in Hub with an organizer and two submitters."""

import pytest
from shared.stand_in_hub import StandInHub


@pytest.fixture
def hub(no_proxy):
    """A stand-in Hub: olga and otto are members of the organization lab; ann and bob are not."""
    with StandInHub() as hub:
        for organizer in ("olga", "otto"):
            hub.add_user(organizer, orgs=["lab"])
        for submitter in ("ann", "bob"):
            hub.add_user(submitter)
        yield hub
