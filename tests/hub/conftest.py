"""What the tests of the Hub's room share: a fake Hub with two organizers and two submitters."""

import pytest
from shared.fake_hub import fake_hub


@pytest.fixture
def hub(tmp_path_factory):
    """A fake Hub: olga and otto are members of the organization lab; ann and bob are not."""
    with fake_hub(tmp_path_factory.mktemp("hub")) as hub:
        for organizer in ("olga", "otto"):
            hub.add_user(organizer, orgs=["lab"])
        for submitter in ("ann", "bob"):
            hub.add_user(submitter)
        yield hub


@pytest.fixture
def log_in(hub):
    """Lets the client of this process work as a user; None: not logged in, as in the beginning."""
    return hub.log_in
