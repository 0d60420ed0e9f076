"""Which request is answered by what."""

import re
from urllib.parse import unquote

from shared.stand_in_hub import discussing, reading, writing
from shared.stand_in_hub.messages import RefusalError, reply_json

API = r"/api/(?P<kind>models|datasets|spaces)/(?P<name>[^/]+/[^/]+)"
PAGE = r"/(?:(?P<kind>datasets|spaces)/)?(?P<name>[^/]+/[^/]+)"
REVISION = r"(?P<revision>[^/]+)"
NUMBER = r"/discussions/(?P<number>\d+)"


def no_harnesses(hub, request):
    return reply_json({"standardEnvVars": [], "harnesses": {}})


ROUTES = [
    ("GET", "/api/agent-harnesses", no_harnesses),
    ("GET", "/api/whoami-v2", reading.whoami),
    ("POST", "/api/repos/create", writing.create),
    ("POST", "/api/validate-yaml", writing.validate_front_matter),
    ("PUT", r"/lfs/(?P<of>\w+)/(?P<name>[^/]+/[^/]+)/(?P<oid>[0-9a-f]{64})", writing.upload),
    ("GET", API, reading.info),
    ("GET", rf"{API}/revision/{REVISION}", reading.info),
    ("GET", rf"{API}/tree/{REVISION}(?:/(?P<path>.+))?", reading.tree),
    ("POST", rf"{API}/paths-info/{REVISION}", reading.paths_info),
    ("GET", rf"{API}/commits/{REVISION}", reading.commits),
    ("POST", rf"{API}/preupload/{REVISION}", writing.preupload),
    ("POST", rf"{API}/commit/{REVISION}", writing.commit),
    ("GET", rf"{API}/discussions", discussing.discussions),
    ("POST", rf"{API}/discussions", discussing.open_discussion),
    ("GET", rf"{API}{NUMBER}", discussing.details),
    ("POST", rf"{API}{NUMBER}/comment", discussing.comment),
    ("POST", rf"{API}{NUMBER}/status", discussing.change_status),
    ("POST", rf"{API}{NUMBER}/merge", discussing.merge_pull_request),
    ("POST", rf"{PAGE}\.git/info/lfs/objects/batch", writing.batch),
    ("HEAD", rf"{PAGE}/resolve/{REVISION}/(?P<path>.+)", reading.resolve),
    ("GET", rf"{PAGE}/resolve/{REVISION}/(?P<path>.+)", reading.resolve),
]
PATTERNS = [(method, re.compile(pattern), act) for method, pattern, act in ROUTES]


def answer(hub, request):
    """The answer to a request."""
    for method, pattern, act in PATTERNS:
        if method == request.method and (match := pattern.fullmatch(request.path)):
            found = {name: unquote(text) for name, text in match.groupdict().items() if text is not None}
            if "kind" in pattern.groupindex:
                kind, name = found.pop("kind", "models").removesuffix("s"), found.pop("name")
                found["repository"] = hub.find(kind, name, request.user)
            return act(hub, request, **found)
    raise RefusalError(404, f"The stand-in has no {request.method} {request.path}", "RepoNotFound")
