"""A Hugging Face Hub over HTTP, in memory, for the one test that plays a leaderboard's life with the real client.

    with StandInHub() as hub:
        hub.add_user("ann", orgs=["lab"])
        run_client(hub, "...", folder)           # in shared.hub_client: HF_ENDPOINT is hub.url there
        hub.files("lab/rain", "dataset")        # {"README.md": b"..."}

It answers the requests of that test; anything else is 404.  All other tests use `shared.fake_hub`.
"""

import base64
import hashlib
import json
import re
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

import yaml

DATE = "2026-11-22T10:00:00.000Z"


class RefusalError(Exception):
    """An answer that is an error."""

    def __init__(self, status, message, code=""):
        super().__init__(message)
        headers = {"X-Error-Message": message, "X-Error-Code": code}
        self.reply = json.dumps({"error": message}).encode(), status, headers


def hash_object(kind, content):
    """The name that git gives to an object."""
    header = f"{kind} {len(content)}\0".encode()
    return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()


@dataclass
class Discussion:
    """A pull request, and what happened to it as the Hub tells it."""

    number: int
    title: str
    author: str
    base: dict[str, bytes]
    status: str = "open"
    events: list = field(default_factory=list)

    @property
    def comments(self):
        """Who said what, the description first."""
        comments = [event for event in self.events if event["type"] == "comment"]
        return [(event["author"]["name"], event["data"]["latest"]["raw"]) for event in comments]

    def add_event(self, kind, author, data):
        event = {"id": f"{self.number}-{len(self.events)}", "type": kind, "createdAt": DATE}
        event |= {"author": {"name": author}, "data": data}
        self.events.append(event)
        return event

    def add_comment(self, author, text):
        latest = {"raw": text, "html": "", "updatedAt": DATE, "author": {"name": author}}
        data = {"edited": False, "hidden": False, "latest": latest, "history": []}
        return self.add_event("comment", author, data)

    def summarize(self, repository):
        return {
            "num": self.number,
            "title": self.title,
            "status": self.status,
            "createdAt": DATE,
            "isPullRequest": True,
            "author": {"name": self.author},
            "repo": {"name": repository.id, "type": repository.kind},
        }


@dataclass
class Repository:
    """A repository: files of each commit by sha, and shas by reference: main, refs/pr/1."""

    id: str
    kind: str
    sdk: str | None
    commits: dict = field(default_factory=dict)
    heads: dict = field(default_factory=dict)
    discussions: list = field(default_factory=list)

    def find(self, revision="main"):
        """The sha of a branch, a pull request or a commit, and its files."""
        sha = self.heads.get(revision, revision)
        if sha not in self.commits:
            raise RefusalError(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return sha, self.commits[sha]

    def add_commit(self, reference, files):
        """Put a commit on top of a reference."""
        text = repr((self.id, reference, len(self.commits), sorted(files.items())))
        sha = hash_object("commit", text.encode())
        self.commits[sha], self.heads[reference] = files, sha
        return sha

    def find_discussion(self, number):
        return self.discussions[int(number) - 1]


class StandInHub:
    """A Hub with no users and no repositories, until it is left.

    Attributes:
        url: its address, for HF_ENDPOINT.
        tokens: users by token.
        orgs: members by organization.
        repositories: by kind and name, `("dataset", "ann/rain")`.
    """

    def __init__(self):
        self.tokens, self.orgs, self.repositories = {}, {}, {}
        self.lock = threading.RLock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads, self._server.block_on_close = True, False
        self._server.hub = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_port}"

    def add_user(self, name, *, orgs=()):
        """Add a user, who is a member of these organizations."""
        self.tokens[f"hf_{name}"] = name
        for org in orgs:
            self.orgs.setdefault(org, set()).add(name)

    def files(self, name, kind="dataset", revision="main"):
        """What a repository holds: bytes by path, without .gitattributes."""
        _, files = self.repositories[kind, name].find(revision)
        return {path: content for path, content in files.items() if path != ".gitattributes"}

    def discussions(self, name, kind="dataset"):
        """Pull requests, oldest first: the first has number 1."""
        return self.repositories[kind, name].discussions

    def may_write(self, user, name):
        """Tell whether a user may commit to the main branch."""
        namespace = name.split("/")[0]
        return user is not None and (user == namespace or user in self.orgs.get(namespace, ()))


class Handler(BaseHTTPRequestHandler):
    """Reads a request and sends the answer."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # headers and content in one packet

    def handle_request(self):
        hub = self.server.hub
        self.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        place = urlsplit(self.path)
        self.query = {name: values[-1] for name, values in parse_qs(place.query).items()}
        self.user = hub.tokens.get(self.headers.get("Authorization", "").removeprefix("Bearer "))
        try:
            with hub.lock:
                content, status, headers = self._answer(hub, place.path)
        except RefusalError as refusal:
            content, status, headers = refusal.reply
        self.send_response(status)
        for name, text in (headers | {"Content-Length": str(len(content))}).items():
            self.send_header(name, text)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_HEAD = do_POST = handle_request  # noqa: N815

    def _answer(self, hub, path):
        for method, pattern, act in ROUTES:
            match = pattern.fullmatch(path)
            if method != self.command or not match:
                continue
            parts = {name: unquote(text or "") for name, text in match.groupdict().items()}
            if "kind" in parts:
                kind, name = parts.pop("kind").removesuffix("s") or "model", parts.pop("name")
                if (kind, name) not in hub.repositories:
                    status = 401 if self.user is None else 404
                    raise RefusalError(status, "Repository not found", "RepoNotFound")
                parts["repository"] = hub.repositories[kind, name]
            answer = act(hub, self, **parts)
            if isinstance(answer, tuple):
                return answer
            return json.dumps(answer).encode(), 200, {"Content-Type": "application/json"}
        text = f"The stand-in has no {self.command} {path}"
        raise RefusalError(404, text, "RepoNotFound")

    def log_message(self, *arguments):
        pass

    @property
    def json(self):
        return json.loads(self.body)

    def require_user(self):
        if self.user is None:
            raise RefusalError(401, "Invalid username or password.")
        return self.user


API = r"/api/(?P<kind>models|datasets|spaces)/(?P<name>[^/]+/[^/]+)"
PAGE = r"/(?:(?P<kind>datasets|spaces)/)?(?P<name>[^/]+/[^/]+)"
REVISION = r"(?P<revision>[^/]+)"
NUMBER = r"/discussions/(?P<number>\d+)"
ROUTES = []


def route(method, path):
    """Answer requests by a function: with what is sent as JSON, or with content, status and headers."""

    def decorate(act):
        ROUTES.append((method, re.compile(path), act))
        return act

    return decorate


@route("GET", "/api/agent-harnesses")
def tell_harnesses(hub, request):
    return {"standardEnvVars": [], "harnesses": {}}


@route("GET", "/api/whoami-v2")
def tell_user(hub, request):
    return {"type": "user", "name": request.require_user()}


@route("GET", API)
@route("GET", rf"{API}/revision/{REVISION}")
def tell_repository(hub, request, repository, revision="main"):
    sha, files = repository.find(revision)
    siblings = [{"rfilename": path} for path in sorted(files)]
    about = {"_id": "0", "id": repository.id, "sha": sha, "private": False, "gated": False}
    return about | {"downloads": 0, "likes": 0, "tags": [], "siblings": siblings}


def list_entries(files):
    """All files and folders of a commit by path."""
    entries = {}
    for path, content in files.items():
        entry = {"type": "file", "path": path, "size": len(content)}
        entries[path] = entry | {"oid": hash_object("blob", content)}
        steps = path.split("/")[:-1]
        for i in range(len(steps)):
            folder = "/".join(steps[: i + 1])
            entries[folder] = {"type": "directory", "path": folder, "oid": "0", "size": 0}
    return entries


@route("GET", rf"{API}/tree/{REVISION}(?:/(?P<path>.+))?")
def list_tree(hub, request, repository, revision, path=""):
    entries = list_entries(repository.find(revision)[1])
    if path and path not in entries:
        raise RefusalError(404, f"{path} does not exist on {revision}", "EntryNotFound")
    below = [place for place in sorted(entries) if not path or place.startswith(f"{path}/")]
    if request.query.get("recursive", "").lower() not in ("true", "1"):
        below = [place for place in below if "/" not in place[len(path) :].lstrip("/")]
    return [entries[place] for place in below]


@route("POST", rf"{API}/paths-info/{REVISION}")
def tell_paths(hub, request, repository, revision):
    entries = list_entries(repository.find(revision)[1])
    paths = parse_qs(request.body.decode()).get("paths", [])
    return [entries[path] for path in paths if path in entries]


@route("HEAD", rf"{PAGE}/resolve/{REVISION}/(?P<path>.+)")
@route("GET", rf"{PAGE}/resolve/{REVISION}/(?P<path>.+)")
def send_file(hub, request, repository, revision, path):
    sha, files = repository.find(revision)
    if path not in files:
        raise RefusalError(404, "Entry not found", "EntryNotFound")
    headers = {"ETag": f'"{hash_object("blob", files[path])}"', "X-Repo-Commit": sha}
    return files[path], 200, headers


@route("POST", "/api/repos/create")
def create(hub, request):
    user, wanted = request.require_user(), request.json
    kind = wanted.get("type") or "model"
    name = f"{wanted.get('organization') or user}/{wanted['name']}"
    if not hub.may_write(user, name):
        raise RefusalError(403, "You don't have the rights to create a repository there")
    if (kind, name) in hub.repositories:
        raise RefusalError(409, "You already created this repository")
    repository = hub.repositories[kind, name] = Repository(name, kind, wanted.get("sdk"))
    repository.add_commit("main", {".gitattributes": b""})
    return {"url": f"{hub.url}/{kind}s/{name}", "name": name, "id": name}


@route("POST", "/api/validate-yaml")
def validate_front_matter(hub, request):
    """Judge the front matter of a README: it must be a mapping."""
    _, front, _ = request.json["content"].split("---\n", 2)
    is_valid = isinstance(yaml.safe_load(front), dict)
    errors = [] if is_valid else [{"message": "front matter is not a mapping"}]
    answer = {"errors": errors, "warnings": []}
    return json.dumps(answer).encode(), 200 if is_valid else 400, {}


@route("POST", rf"{API}/preupload/{REVISION}")
def preupload(hub, request, repository, revision):
    """Take all files as they are: none is large."""
    request.require_user()
    sha, _ = repository.find(revision)
    about = {"uploadMode": "regular", "shouldIgnore": False}
    return {
        "files": [{"path": file["path"], **about} for file in request.json["files"]],
        "commitOid": sha,
    }


@route("POST", rf"{API}/commit/{REVISION}")
def commit(hub, request, repository, revision):
    user, is_request = request.require_user(), "create_pr" in request.query
    if not is_request and not hub.may_write(user, repository.id):
        raise RefusalError(403, "You don't have write access to this repository")
    header, *operations = [json.loads(line) for line in request.body.splitlines()]
    about = header["value"]
    parent, head = about.get("parentCommit"), repository.find()[0]
    if not is_request and parent not in (None, head):
        raise RefusalError(412, "A commit has happened since. Please refresh and try again.")
    files = dict(repository.commits[head])
    for operation in operations:
        path = operation["value"]["path"]
        if operation["key"] == "file":
            files[path] = base64.b64decode(operation["value"]["content"])
        else:
            del files[path]
    answer, reference = {}, "main"
    place = f"{hub.url}/{repository.kind}s/{repository.id}"
    if is_request:
        number = len(repository.discussions) + 1
        pull_request = Discussion(number, about["summary"], user, repository.commits[head])
        repository.discussions.append(pull_request)
        pull_request.add_comment(user, about.get("description", ""))
        reference = f"refs/pr/{number}"
        answer["pullRequestUrl"] = f"{place}/discussions/{number}"
    sha = repository.add_commit(reference, files)
    if is_request:
        pull_request.add_event("commit", user, {"subject": about["summary"], "oid": sha})
    url = f"{place}/commit/{sha}"
    return answer | {"success": True, "hookOutput": "", "commitOid": sha, "commitUrl": url}


@route("GET", rf"{API}/discussions")
def list_discussions(hub, request, repository):
    discussions = repository.discussions
    if request.query.get("status") == "open":
        discussions = [one for one in discussions if one.status == "open"]
    listed = [discussion.summarize(repository) for discussion in reversed(discussions)]
    return {"discussions": listed, "count": len(listed), "start": 0}


@route("GET", rf"{API}{NUMBER}")
def tell_discussion(hub, request, repository, number):
    discussion = repository.find_discussion(number)
    _, files = repository.find(f"refs/pr/{number}")
    changed = [path for path in sorted(files) if files[path] != discussion.base.get(path)]
    return discussion.summarize(repository) | {
        "events": discussion.events,
        "changes": {"base": "refs/heads/main"},
        "filesWithConflicts": [],
        "diff": "".join(f"diff --git a/{path} b/{path}\n" for path in changed),
    }


@route("POST", rf"{API}{NUMBER}/comment")
def comment(hub, request, repository, number):
    discussion = repository.find_discussion(number)
    return {"newMessage": discussion.add_comment(request.require_user(), request.json["comment"])}


@route("POST", rf"{API}{NUMBER}/status")
def change_status(hub, request, repository, number):
    user, discussion = request.require_user(), repository.find_discussion(number)
    if user != discussion.author and not hub.may_write(user, repository.id):
        raise RefusalError(403, "You don't have the rights to change the status of this discussion")
    discussion.status = request.json["status"]
    event = discussion.add_event("status-change", user, {"status": discussion.status})
    return {"newStatus": event}
