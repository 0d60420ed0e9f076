"""A Hugging Face Hub on this machine, in memory, that the real client can't tell from the real one.

    with StandInHub() as hub:
        hub.add_user("ann", orgs=["lab"])
        run_client(hub, "ann", "...")           # in shared.hub_client: HF_ENDPOINT is hub.url there
        hub.files("lab/rain", "dataset")        # {"README.md": b"..."}

It answers the requests that publishing, submitting, judging, loading and evaluating send; anything else is 404.
`faults` make a request fail on demand, `requests` lists what was asked, `now` is the clock.
"""

from shared.stand_in_hub.faults import CUT, CUT_AFTER, KILL, KILL_AFTER, Fault
from shared.stand_in_hub.hub import StandInHub

__all__ = ["CUT", "CUT_AFTER", "KILL", "KILL_AFTER", "Fault", "StandInHub"]
