"""A Hugging Face Hub on this machine, in memory, that the real client can't tell from the real one.

    with StandInHub() as hub:
        hub.add_user("ann", orgs=["lab"])
        run_client(hub, "ann", "...")           # in shared.hub_client: HF_ENDPOINT is hub.url there
        hub.files("lab/rain", "dataset")        # {"README.md": b"..."}

It answers the requests that publishing, submitting, judging, loading and evaluating send; anything else is 404.
"""

import base64
import difflib
import hashlib
import json
import os
import re
import signal
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatch
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

import yaml

CUT = "cut"  # the connection ends before the request is looked at
CUT_AFTER = "cut after"  # the request takes effect, and its answer is lost
KILL_AFTER = "kill after"  # the request takes effect, and the client's process is killed
LFS_SUFFIXES = (".parquet", ".arrow", ".bin", ".safetensors", ".zip", ".gz", ".png")
LARGE = 10_000_000  # bytes from which every file is stored as a large one
PAGE_SIZE = 1000  # files on a page of a listing
# what shared.hub_client makes the client add to its User-Agent
PROCESS = re.compile(r"origin/process-(\d+)")


@dataclass
class Fault:
    """A fault of the next requests that match.

    Args:
        path: a regular expression, found anywhere in the unquoted path with its query string.
        method: GET, HEAD, POST, PUT; None for any.
        answer: a status, or one of CUT, CUT_AFTER, KILL_AFTER; None answers as usual, for the hooks alone.
        times: how many matching requests are concerned.
        skip: how many matching requests come before these and pass unharmed.
        user: only requests of this user.
        headers: headers of the answer, such as Retry-After.
        error: what the answer says.
        before: called before the request is looked at; it may send requests of its own.
        after: called after the request took effect and before it is answered.
    """

    path: str
    method: str | None = None
    answer: int | str | None = None
    times: int = 1
    skip: int = 0
    user: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    error: str = "a fault on demand"
    before: Callable[[], None] = lambda: None
    after: Callable[[], None] = lambda: None

    def takes(self, method, path, user):
        """Tell whether the request is to fail, and count it."""
        if self.times < 1 or self.method not in (None, method) or self.user not in (None, user):
            return False
        if not re.search(self.path, path):
            return False
        if self.skip:
            self.skip -= 1
            return False
        self.times -= 1
        return True


class RefusalError(Exception):
    """An answer that is an error."""

    def __init__(self, status, message, code=None, **headers):
        super().__init__(message)
        shown = {"X-Error-Message": message} | ({"X-Error-Code": code} if code else {})
        shown |= {name.replace("_", "-"): value for name, value in headers.items()}
        self.reply = json.dumps({"error": message}).encode(), status, shown


def hash_object(kind, content):
    """The name that git gives to an object."""
    return hashlib.sha1(
        f"{kind} {len(content)}\0".encode() + content, usedforsecurity=False
    ).hexdigest()


@dataclass(frozen=True)
class Blob:
    """A file; of a large one, git itself holds a pointer."""

    content: bytes
    lfs: bool = False

    @property
    def sha256(self):
        return hashlib.sha256(self.content).hexdigest()

    @property
    def stored(self):
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{self.sha256}\nsize {len(self.content)}\n"
        return pointer.encode() if self.lfs else self.content

    @property
    def oid(self):
        return hash_object("blob", self.stored)

    def describe(self):
        shown = {"size": len(self.content), "oid": self.oid}
        large = {"oid": self.sha256, "size": len(self.content), "pointerSize": len(self.stored)}
        return shown | ({"lfs": large} if self.lfs else {})


@dataclass(frozen=True)
class Commit:
    sha: str
    parents: tuple
    title: str
    message: str
    author: str
    date: str
    files: dict


@dataclass
class Discussion:
    """A discussion; a pull request where `base`, the commit from which it starts, is given."""

    number: int
    title: str
    author: str
    created: str
    status: str = "open"
    base: str | None = None
    merged: str | None = None
    events: list = field(default_factory=list)

    @property
    def is_pull_request(self):
        return self.base is not None

    @property
    def reference(self):
        return f"refs/pr/{self.number}"

    @property
    def comments(self):
        """Who said what, the description first."""
        said = [event for event in self.events if event["type"] == "comment"]
        return [(event["author"]["name"], event["data"]["latest"]["raw"]) for event in said]

    def add_event(self, kind, author, date, data):
        about = {
            "id": f"{self.number:08x}{len(self.events):016x}",
            "type": kind,
            "createdAt": date,
            "data": data,
        }
        self.events.append(about | {"author": {"name": author, "type": "user"}})
        return self.events[-1]

    def add_comment(self, author, date, text):
        latest = {
            "raw": text,
            "html": f"<p>{text}</p>",
            "updatedAt": date,
            "author": {"name": author},
        }
        data = {"edited": False, "hidden": False, "latest": latest, "history": []}
        return self.add_event("comment", author, date, data)

    def summarize(self, repository):
        shown = {
            "num": self.number,
            "title": self.title,
            "status": self.status,
            "createdAt": self.created,
        }
        shown |= {
            "isPullRequest": self.is_pull_request,
            "author": {"name": self.author, "type": "user"},
        }
        return shown | {"repo": {"name": repository.id, "type": repository.kind}}


@dataclass
class Repository:
    """A repository; `heads` are commits by full reference: refs/heads/main, refs/pr/1."""

    id: str
    kind: str
    created: str
    private: bool = False
    sdk: str | None = None
    commits: dict = field(default_factory=dict)
    heads: dict = field(default_factory=dict)
    discussions: list = field(default_factory=list)
    large: dict = field(default_factory=dict)

    @property
    def url(self):
        """Where its pages lie, below the Hub's own address."""
        return self.id if self.kind == "model" else f"{self.kind}s/{self.id}"

    def find(self, revision="main"):
        """The commit of a branch, a pull request or a sha."""
        heads = [
            self.heads[name] for name in (revision, f"refs/heads/{revision}") if name in self.heads
        ]
        if (sha := next(iter(heads), revision)) not in self.commits:
            raise RefusalError(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return self.commits[sha]

    def add_commit(self, reference, files, *, parents, title, author, date, message=""):
        """Put a commit on top of a reference; a pull request tells of it."""
        tree = "".join(f"{path} {blob.oid}\n" for path, blob in sorted(files.items()))
        text = "\n".join([*parents, title, message, author, date, str(len(self.commits)), tree])
        sha = hash_object("commit", text.encode())
        self.commits[sha] = Commit(sha, tuple(parents), title, message, author, date, dict(files))
        self.heads[reference] = sha
        for one in self.discussions:
            if one.reference == reference:
                one.add_event("commit", author, date, {"subject": title, "oid": sha})
        return self.commits[sha]

    def list_ancestors(self, sha):
        """The commit and all before it, along first parents, newest first."""
        chain = []
        while sha is not None:
            chain.append(self.commits[sha])
            sha = next(iter(chain[-1].parents), None)
        return chain

    def add_discussion(self, title, author, date, text, base=None):
        one = Discussion(len(self.discussions) + 1, title, author, date, base=base)
        self.discussions.append(one)
        one.add_comment(author, date, text)
        if base is not None:
            self.heads[one.reference] = base
        return one

    def find_discussion(self, number):
        if not 1 <= int(number) <= len(self.discussions):
            raise RefusalError(404, "Discussion not found")
        return self.discussions[int(number) - 1]


class StandInHub:
    """A Hub with no users and no repositories, until it is left.

    Attributes:
        url: its address, for HF_ENDPOINT.
        tokens: users by token.
        orgs: members by organization.
        repositories: by kind and name, `("dataset", "ann/rain")`.
        faults: what goes wrong, see `Fault`; the first that matches is taken.
        requests: what was asked so far: method, unquoted path with query, user.
        now: the time of the next event; every event moves it on by a second.
        page_size: discussions on a page.
    """

    def __init__(self):
        self.tokens, self.orgs, self.repositories = {}, {}, {}
        self.faults, self.requests = [], []
        self.now = datetime(2026, 11, 22, 10, tzinfo=UTC)
        self.page_size = 50
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

    def tick(self):
        """The date of an event."""
        date, self.now = self.now, self.now + timedelta(seconds=1)
        return date.strftime("%Y-%m-%dT%H:%M:%S.000Z")

    def add_repository(
        self, name, kind="dataset", files=None, *, private=False, sdk=None, author=None
    ):
        """Create a repository as its owner would, with files (bytes by path) in a commit of their own."""
        with self.lock:
            author = author or name.split("/")[0]
            repository = self.repositories[kind, name] = Repository(
                name, kind, self.tick(), private, sdk
            )
            start = {".gitattributes": Blob(b"*.parquet filter=lfs diff=lfs merge=lfs -text\n")}
            about = {"title": "initial commit", "author": author, "date": self.tick()}
            repository.add_commit("refs/heads/main", start, parents=(), **about)
            if files:
                self.commit(name, kind, files, author=author)

    def commit(
        self, name, kind, files, *, author=None, title="Add files", reference="refs/heads/main"
    ):
        """Commit files to main, or another reference, behind the clients' backs: bytes by path, None to delete."""
        with self.lock:
            repository = self.repositories[kind, name]
            parent = repository.find(reference)
            blobs = {
                path: Blob(c, is_large(path, len(c))) for path, c in files.items() if c is not None
            }
            tree = {path: blob for path, blob in parent.files.items() if path not in files} | blobs
            about = {"title": title, "author": author or name.split("/")[0], "date": self.tick()}
            repository.add_commit(reference, tree, parents=(parent.sha,), **about)

    def open_pull_request(self, name, kind, author, files):
        """Open a pull request as its author would, with anything in it: bytes by path, None to delete."""
        with self.lock:
            repository = self.repositories[kind, name]
            one = repository.add_discussion(
                "Please", author, self.tick(), "", repository.find().sha
            )
            self.push(name, kind, one.number, files)
            return one

    def push(self, name, kind, number, files):
        """Commit to a pull request as its author would."""
        one = self.repositories[kind, name].find_discussion(number)
        self.commit(name, kind, files, author=one.author, title=one.title, reference=one.reference)

    def files(self, name, kind="dataset", revision="main"):
        """What a repository holds: bytes by path, without .gitattributes."""
        tree = self.repositories[kind, name].find(revision).files
        return {path: blob.content for path, blob in tree.items() if path != ".gitattributes"}

    def commits(self, name, kind="dataset"):
        """The commits of the main branch, oldest first; the first is the empty one of its creation."""
        repository = self.repositories[kind, name]
        return repository.list_ancestors(repository.find().sha)[::-1]

    def discussions(self, name, kind="dataset"):
        """Discussions and pull requests, oldest first: the first has number 1."""
        return list(self.repositories[kind, name].discussions)

    def may_write(self, user, repository):
        """Tell whether a user may commit to the main branch."""
        namespace = repository.id.split("/")[0]
        return user is not None and (user == namespace or user in self.orgs.get(namespace, ()))

    def find(self, kind, name, user):
        """The repository, if the user may see it."""
        repository = self.repositories.get((kind, name))
        if repository is None or (repository.private and not self.may_write(user, repository)):
            status, message = (
                (401, "Invalid username or password.")
                if user is None
                else (404, "Repository not found")
            )
            raise RefusalError(status, message, "RepoNotFound")
        return repository


class Handler(BaseHTTPRequestHandler):
    """Reads a request, meets its fault if there is one, and sends the answer."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # headers and content in one packet

    def handle_request(self):
        hub, fault = self.server.hub, Fault("")
        self.body = self._read_body()
        self.place = urlsplit(self.path)
        self.lists = parse_qs(self.place.query)
        self.query = {name: values[-1] for name, values in self.lists.items()}
        token = self.headers.get("Authorization", "")
        self.user = hub.tokens.get(token.removeprefix("Bearer "))
        try:
            if token and self.user is None:
                raise RefusalError(401, "Invalid credentials in Authorization header")  # noqa: TRY301
            with hub.lock:
                asked = self.command, unquote(self.path), self.user
                hub.requests.append(asked)
                fault = next((one for one in hub.faults if one.takes(*asked)), fault)
            fault.before()
            self._cut(fault.answer == CUT)
            if isinstance(fault.answer, int):
                raise RefusalError(fault.answer, fault.error, **fault.headers)  # noqa: TRY301
            with hub.lock:
                reply = self._answer(hub)
            fault.after()
            if fault.answer == KILL_AFTER:
                os.kill(int(PROCESS.search(self.headers["User-Agent"]).group(1)), signal.SIGKILL)
            self._cut(fault.answer in (CUT_AFTER, KILL_AFTER))
        except RefusalError as refusal:
            reply = refusal.reply
        except (BrokenPipeError, ConnectionResetError):
            return
        self._send(*reply)

    do_GET = do_HEAD = do_POST = do_PUT = handle_request  # noqa: N815

    def _answer(self, hub):
        for method, pattern, act in ROUTES:
            if method == self.command and (match := pattern.fullmatch(self.place.path)):
                found = {
                    name: unquote(text)
                    for name, text in match.groupdict().items()
                    if text is not None
                }
                if "kind" in pattern.groupindex:
                    kind, name = found.pop("kind", "models").removesuffix("s"), found.pop("name")
                    found["repository"] = hub.find(kind, name, self.user)
                found = act(hub, self, **found)
                is_raw = isinstance(found, tuple) and isinstance(found[0], bytes)
                return (
                    found
                    if is_raw
                    else (json.dumps(found).encode(), 200, {"Content-Type": "application/json"})
                )
        raise RefusalError(
            404, f"The stand-in has no {self.command} {self.place.path}", "RepoNotFound"
        )

    def _cut(self, is_cut):
        if is_cut:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            raise BrokenPipeError

    def _read_body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        chunks = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def _send(self, content, status, headers):
        try:
            self.send_response(status)
            for name, value in (headers | {"Content-Length": str(len(content))}).items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)
            self.wfile.flush()
        # the client is gone: it was killed, or lost patience
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def log_message(self, *arguments):
        pass

    @property
    def json(self):
        return json.loads(self.body or b"null")

    def require_user(self):
        if self.user is None:
            raise RefusalError(401, "Invalid username or password.")
        return self.user

    def is_set(self, name):
        return self.query.get(name, "").lower() in ("true", "1")


API = r"/api/(?P<kind>models|datasets|spaces)/(?P<name>[^/]+/[^/]+)"
PAGE = r"/(?:(?P<kind>datasets|spaces)/)?(?P<name>[^/]+/[^/]+)"
REVISION = r"(?P<revision>[^/]+)"
NUMBER = r"/discussions/(?P<number>\d+)"
ROUTES = []


def route(*methods_and_path):
    """Answer requests by a function: with what is sent as JSON, or with content, status and headers."""

    def decorate(act):
        *methods, path = methods_and_path
        ROUTES.extend((method, re.compile(path), act) for method in methods)
        return act

    return decorate


@route("GET", "/api/agent-harnesses")
def tell_harnesses(hub, request):
    return {"standardEnvVars": [], "harnesses": {}}


@route("GET", "/api/whoami-v2")
def tell_user(hub, request):
    name = request.require_user()
    orgs = [
        {"name": org, "type": "org", "roleInOrg": "write"}
        for org, users in hub.orgs.items()
        if name in users
    ]
    access = {"type": "access_token", "accessToken": {"displayName": "stand-in", "role": "write"}}
    return {
        "type": "user",
        "id": name,
        "name": name,
        "fullname": name.title(),
        "orgs": orgs,
        "auth": access,
    }


@route("GET", API)
@route("GET", rf"{API}/revision/{REVISION}")
def tell_repository(hub, request, repository, revision="main"):
    commit = repository.find(revision)
    blobs = [
        (path, blob.describe() if "blobs" in request.query else {})
        for path, blob in commit.files.items()
    ]
    shown = {
        "_id": hash_object("repository", repository.id.encode())[:24],
        "id": repository.id,
        "sha": commit.sha,
    }
    shown |= {
        "author": repository.id.split("/")[0],
        "private": repository.private,
        "gated": False,
        "disabled": False,
    }
    shown |= {
        "downloads": 0,
        "likes": 0,
        "tags": [],
        "createdAt": repository.created,
        "lastModified": commit.date,
    }
    shown["siblings"] = [{"rfilename": path, **about} for path, about in sorted(blobs)]
    shown |= {"sdk": repository.sdk} if repository.sdk else {}
    wanted = request.lists.get("expand", shown)
    return {name: shown[name] for name in ("_id", "id", *wanted)}


def list_entries(commit, expand):
    """All files and folders of a commit by path; the last commit of each is said to be this one."""
    last = (
        {"lastCommit": {"id": commit.sha, "title": commit.title, "date": commit.date}}
        if expand
        else {}
    )
    entries = {}
    for path, blob in commit.files.items():
        entries[path] = {"type": "file", "path": path, **blob.describe(), **last}
        steps = path.split("/")[:-1]
        for folder in ("/".join(steps[: i + 1]) for i in range(len(steps))):
            oid = hash_object("tree", folder.encode())
            entries[folder] = {"type": "directory", "path": folder, "oid": oid, "size": 0, **last}
    return entries


@route("GET", rf"{API}/tree/{REVISION}(?:/(?P<path>.+))?")
def list_tree(hub, request, repository, revision, path=""):
    entries = list_entries(repository.find(revision), request.is_set("expand"))
    if path and entries.get(path, {}).get("type") != "directory":
        raise RefusalError(404, f"{path} does not exist on {revision}", "EntryNotFound")
    below = [p for p in sorted(entries) if not path or p.startswith(f"{path}/")]
    if not request.is_set("recursive"):
        below = [p for p in below if "/" not in p[len(path) :].lstrip("/")]
    start = int(request.query.get("cursor", 0))
    stop, headers = start + PAGE_SIZE, {"Content-Type": "application/json"}
    if stop < len(below):
        query = "&".join(
            f"{name}={request.query[name]}"
            for name in ("recursive", "expand")
            if name in request.query
        )
        headers["Link"] = f'<{hub.url}{request.place.path}?{query}&cursor={stop}>; rel="next"'
    return json.dumps([entries[p] for p in below[start:stop]]).encode(), 200, headers


@route("POST", rf"{API}/paths-info/{REVISION}")
def tell_paths(hub, request, repository, revision):
    form = parse_qs(request.body.decode())
    entries = list_entries(
        repository.find(revision), form.get("expand", [""])[-1].lower() == "true"
    )
    return [entries[path] for path in form.get("paths", []) if path in entries]


@route("GET", rf"{API}/commits/{REVISION}")
def list_commits(hub, request, repository, revision):
    return [
        {
            "id": c.sha,
            "title": c.title,
            "message": c.message,
            "authors": [{"user": c.author}],
            "date": c.date,
        }
        for c in repository.list_ancestors(repository.find(revision).sha)
    ]


@route("HEAD", "GET", rf"{PAGE}/resolve/{REVISION}/(?P<path>.+)")
def send_file(hub, request, repository, revision, path):
    commit = repository.find(revision)
    blob = commit.files.get(path)
    if blob is None:
        raise RefusalError(404, "Entry not found", "EntryNotFound", X_Repo_Commit=commit.sha)
    etag, size = blob.sha256 if blob.lfs else blob.oid, len(blob.content)
    headers = {"ETag": f'"{etag}"', "X-Repo-Commit": commit.sha, "Accept-Ranges": "bytes"}
    headers |= {"X-Linked-Size": str(size), "X-Linked-ETag": f'"{etag}"'} if blob.lfs else {}
    wanted = re.fullmatch(r"bytes=(\d*)-(\d*)", request.headers.get("Range", ""))
    if request.command == "HEAD" or not wanted:
        return blob.content, 200, headers
    first, last = wanted.groups()
    start = int(first) if first else size - int(last)
    stop = min(int(last) + 1, size) if first and last else size
    if start >= size:
        raise RefusalError(416, "Range not satisfiable", Content_Range=f"bytes */{size}")
    return (
        blob.content[start:stop],
        206,
        headers | {"Content-Range": f"bytes {start}-{stop - 1}/{size}"},
    )


@route("POST", "/api/repos/create")
def create(hub, request):
    user, wanted = request.require_user(), request.json
    owner, kind, sdk = (
        wanted.get("organization") or user,
        wanted.get("type") or "model",
        wanted.get("sdk"),
    )
    name = f"{owner}/{wanted['name']}"
    if owner != user and user not in hub.orgs.get(owner, ()):
        raise RefusalError(
            403, f'You don\'t have the rights to create a {kind} under the namespace "{owner}"'
        )
    found = {
        "url": f"{hub.url}/{'' if kind == 'model' else f'{kind}s/'}{name}",
        "name": name,
        "id": name,
    }
    if (kind, name) in hub.repositories:
        return (
            json.dumps(
                {"error": f"You already created this {kind} repo", "url": found["url"]}
            ).encode(),
            409,
            {},
        )
    if kind == "space" and sdk != "static":
        raise RefusalError(402, "Compute Spaces need a paid plan: upgrade to PRO")
    hub.add_repository(
        name, kind, private=wanted.get("visibility") == "private", sdk=sdk, author=user
    )
    return found


@route("POST", "/api/validate-yaml")
def validate_front_matter(hub, request):
    """Judge the front matter of a README: it must be a mapping."""
    parts, errors = request.json["content"].split("---\n", 2), []
    if len(parts) == 3 and not parts[0]:
        try:
            data = yaml.safe_load(parts[1])
        except yaml.YAMLError as error:
            data = f"is no YAML: {error}"
        errors = (
            []
            if isinstance(data, dict)
            else [{"message": f"front matter is not a mapping: {data!r}"}]
        )
    return json.dumps({"errors": errors, "warnings": []}).encode(), 400 if errors else 200, {}


def check_permission(hub, request, repository, revision):
    """Refuse who may not commit there: main is the owner's, a pull request also its author's."""
    user = request.require_user()
    mine = [
        one.reference
        for one in repository.discussions
        if one.author == user and one.is_pull_request
    ]
    if not ("create_pr" in request.query or hub.may_write(user, repository) or revision in mine):
        raise RefusalError(
            403, "Authorization error: you don't have write access to this repository"
        )
    return user


def is_large(path, size):
    return path.endswith(LFS_SUFFIXES) or size >= LARGE


@route("POST", rf"{API}/preupload/{REVISION}")
def preupload(hub, request, repository, revision):
    check_permission(hub, request, repository, revision)
    commit, found = repository.find(revision), []
    ignored = (
        commit.files[".gitignore"].content.decode().split() if ".gitignore" in commit.files else []
    )
    for wanted in request.json["files"]:
        path = wanted["path"]
        known = commit.files.get(path)
        entry = {"path": path, "uploadMode": "lfs" if is_large(path, wanted["size"]) else "regular"}
        entry["shouldIgnore"] = any(fnmatch(path, pattern) for pattern in ignored)
        found.append(entry | ({"oid": known.sha256 if known.lfs else known.oid} if known else {}))
    return {"files": found, "commitOid": commit.sha}


@route("POST", rf"{PAGE}\.git/info/lfs/objects/batch")
def batch(hub, request, repository):
    request.require_user()
    objects = []
    for wanted in request.json["objects"]:
        href = f"{hub.url}/lfs/{repository.kind}/{repository.id}/{wanted['oid']}"
        upload = (
            {} if wanted["oid"] in repository.large else {"actions": {"upload": {"href": href}}}
        )
        objects.append(wanted | {"authenticated": True} | upload)
    kind = {"Content-Type": "application/vnd.git-lfs+json"}
    return json.dumps({"transfer": "basic", "objects": objects}).encode(), 200, kind


@route("PUT", r"/lfs/(?P<of>\w+)/(?P<name>[^/]+/[^/]+)/(?P<oid>[0-9a-f]{64})")
def upload(hub, request, of, name, oid):
    """Keep an object; like the real storage, it asks for no token, since the address is the permission."""
    if hashlib.sha256(request.body).hexdigest() != oid:
        raise RefusalError(400, "The content has another digest than its address")
    hub.repositories[of, name].large[oid] = request.body
    return b"", 200, {}


@route("POST", rf"{API}/commit/{REVISION}")
def commit(hub, request, repository, revision):
    user = check_permission(hub, request, repository, revision)
    head, *lines = map(json.loads, request.body.splitlines())
    header, as_request, start = (
        head["value"],
        "create_pr" in request.query,
        repository.find(revision),
    )
    parent = header.get("parentCommit")
    if parent is not None and as_request:
        start = repository.find(parent)
    elif parent not in (None, start.sha):
        raise RefusalError(412, "A commit has happened since. Please refresh and try again.")
    tree = dict(start.files)
    for line in lines:
        apply(repository, tree, line["key"], line["value"])
    about = {
        "title": header["summary"],
        "message": header.get("description", ""),
        "author": user,
        "date": hub.tick(),
    }
    found, reference = {}, revision if revision in repository.heads else f"refs/heads/{revision}"
    if as_request:
        one = repository.add_discussion(
            about["title"], user, about["date"], about["message"], start.sha
        )
        reference = one.reference
        found["pullRequestUrl"] = f"{hub.url}/{repository.url}/discussions/{one.number}"
    made = repository.add_commit(reference, tree, parents=(start.sha,), **about)
    url = f"{hub.url}/{repository.url}/commit/{made.sha}"
    return found | {"success": True, "hookOutput": "", "commitOid": made.sha, "commitUrl": url}


def apply(repository, tree, key, value):
    """Carry out one line of a commit."""
    path = value["path"]
    if key == "file":
        tree[path] = Blob(base64.b64decode(value["content"]))
    elif key == "lfsFile":
        if value["oid"] not in repository.large:
            raise RefusalError(400, f"{path}: the large file was not uploaded")
        tree[path] = Blob(repository.large[value["oid"]], lfs=True)
    elif key in ("deletedFile", "deletedFolder"):
        gone = [
            p
            for p in tree
            if p == path or (key == "deletedFolder" and p.startswith(f"{path.rstrip('/')}/"))
        ]
        if not gone:
            raise RefusalError(404, "A file with this name doesn't exist", "EntryNotFound")
        for one in gone:
            del tree[one]
    else:
        raise RefusalError(400, f"unknown operation {key}")


@route("GET", rf"{API}/discussions")
def list_discussions(hub, request, repository):
    kinds = {"pull_request": (True,), "discussion": (False,)}.get(
        request.query.get("type"), (True, False)
    )
    states = {"open": ("open", "draft"), "closed": ("closed", "merged")}.get(
        request.query.get("status")
    )
    found = [one for one in reversed(repository.discussions) if one.is_pull_request in kinds]
    found = [one for one in found if states is None or one.status in states]
    found = [one for one in found if request.query.get("author", one.author) == one.author]
    start = int(request.query.get("p", 0)) * hub.page_size
    shown = [one.summarize(repository) for one in found[start : start + hub.page_size]]
    return {"discussions": shown, "count": len(found), "start": start}


@route("POST", rf"{API}/discussions")
def open_discussion(hub, request, repository):
    user, wanted = request.require_user(), request.json
    base = repository.find().sha if wanted["pullRequest"] else None
    one = repository.add_discussion(wanted["title"], user, hub.tick(), wanted["description"], base)
    one.status = "draft" if one.is_pull_request else "open"
    return {"num": one.number}


@route("GET", rf"{API}{NUMBER}")
def tell_discussion(hub, request, repository, number):
    one = repository.find_discussion(number)
    shown = one.summarize(repository) | {"events": one.events}
    if not one.is_pull_request:
        return shown
    changes = {"base": "refs/heads/main"} | ({"mergeCommitId": one.merged} if one.merged else {})
    before, after = repository.commits[one.base].files, repository.find(one.reference).files
    conflicts = find_conflicts(before, after, repository.find().files)
    return shown | {
        "changes": changes,
        "filesWithConflicts": conflicts,
        "diff": diff(before, after),
    }


def find_conflicts(base, ours, theirs):
    """Paths that both sides changed, each in its own way."""
    sides = {
        path: (base.get(path), ours.get(path), theirs.get(path)) for path in {*base, *ours, *theirs}
    }
    return sorted(p for p, (b, o, t) in sides.items() if o not in (b, t) and t != b)


@route("POST", rf"{API}{NUMBER}/comment")
def comment(hub, request, repository, number):
    user = request.require_user()
    return {
        "newMessage": repository.find_discussion(number).add_comment(
            user, hub.tick(), request.json["comment"]
        )
    }


@route("POST", rf"{API}{NUMBER}/status")
def change_status(hub, request, repository, number):
    user, one, wanted = request.require_user(), repository.find_discussion(number), request.json
    if user != one.author and not hub.may_write(user, repository):
        raise RefusalError(403, "You don't have the rights to change the status of this discussion")
    if wanted.get("comment"):
        one.add_comment(user, hub.tick(), wanted["comment"])
    one.status = wanted["status"]
    return {"newStatus": one.add_event("status-change", user, hub.tick(), {"status": one.status})}


@route("POST", rf"{API}{NUMBER}/merge")
def merge(hub, request, repository, number):
    user, one = request.require_user(), repository.find_discussion(number)
    if not hub.may_write(user, repository):
        raise RefusalError(403, "You don't have the rights to merge this pull request")
    if not one.is_pull_request or one.status not in ("open", "draft"):
        raise RefusalError(400, "Only an open pull request can be merged")
    base, ours, main = (
        repository.commits[one.base],
        repository.find(one.reference),
        repository.find(),
    )
    if conflicts := find_conflicts(base.files, ours.files, main.files):
        raise RefusalError(409, f"This pull request has conflicts: {', '.join(conflicts)}")
    changed = {
        path for path in {*base.files, *ours.files} if base.files.get(path) != ours.files.get(path)
    }
    tree = {path: blob for path, blob in main.files.items() if path not in changed}
    tree |= {path: blob for path, blob in ours.files.items() if path in changed}
    about = {"title": f"{one.title} (#{one.number})", "author": user, "date": hub.tick()}
    one.merged = repository.add_commit(
        "refs/heads/main", tree, parents=(main.sha, ours.sha), **about
    ).sha
    one.status = "merged"
    one.add_event("status-change", user, hub.tick(), {"status": "merged"})
    return {}


def diff(before, after):
    """All changed files of two trees in git's unified format."""
    changed = [
        path for path in sorted(before.keys() | after.keys()) if before.get(path) != after.get(path)
    ]
    return "".join(diff_file(path, before.get(path), after.get(path)) for path in changed)


def diff_file(path, old, new):
    a, b = quote(f"a/{path}"), quote(f"b/{path}")
    head = [f"diff --git {a} {b}\n", *["new file mode 100644\n"] * (old is None)]
    head += ["deleted file mode 100644\n"] * (new is None)
    head.append(f"index {old.oid[:7] if old else '0' * 7}..{new.oid[:7] if new else '0' * 7}\n")
    a, b = (a if old else "/dev/null"), (b if new else "/dev/null")
    if any(blob is not None and (blob.lfs or b"\0" in blob.content) for blob in (old, new)):
        return "".join([*head, f"Binary files {a} and {b} differ\n"])
    sides = [
        [] if blob is None else blob.content.decode(errors="replace").split("\n")
        for blob in (old, new)
    ]
    texts = [
        [f"{line}\n" for line in side[:-1]] + side[-1:] * bool(side and side[-1]) for side in sides
    ]
    shown = difflib.unified_diff(*texts, a, b)
    return "".join(
        [
            *head,
            *(
                one if one.endswith("\n") else f"{one}\n\\ No newline at end of file\n"
                for one in shown
            ),
        ]
    )


def quote(path):
    """Quote a path as git does where it holds anything but printable ASCII."""
    special = {
        7: "\\a",
        8: "\\b",
        9: "\\t",
        10: "\\n",
        11: "\\v",
        12: "\\f",
        13: "\\r",
        34: '\\"',
        92: "\\\\",
    }
    quoted = [special.get(c) or (chr(c) if 32 <= c < 127 else f"\\{c:03o}") for c in path.encode()]
    return path if "".join(quoted) == path else f'"{"".join(quoted)}"'
