"""What the tests of the Hub's room share: a stand-in Hub with an organizer and two submitters."""

import pytest
from shared.hub_client import client_here
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


@pytest.fixture
def log_in(hub, tmp_path_factory):
    """Lets the client of this process work with the stand-in as a user; None: not logged in, as in the beginning."""
    with client_here(hub, tmp_path_factory.mktemp("hf-home")) as call:
        yield call
