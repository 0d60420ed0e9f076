"""The Hub: its users, repositories and clock, and the server that answers for it."""

import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from http.server import ThreadingHTTPServer

from shared.stand_in_hub.discussions import Discussion
from shared.stand_in_hub.history import Blob, Repository, is_large
from shared.stand_in_hub.messages import RefusalError
from shared.stand_in_hub.server import Handler


class StandInHub:
    """A Hub with no users and no repositories, until it is entered or closed.

    Attributes:
        url: its address, for HF_ENDPOINT.
        tokens: users by token.
        orgs: members by organization.
        repositories: by kind and name, `("dataset", "ann/rain")`.
        faults: what goes wrong, see `Fault`; the first that matches is taken.
        requests: what was asked so far: method, unquoted path with query, user.
        now: the time of the next event; every event moves it on by a second.
        page_size: discussions on a page.
        tree_page_size: files on a page of a listing.
    """

    def __init__(self):
        self.tokens = {}
        self.orgs = {}
        self.repositories = {}
        self.faults = []
        self.requests = []
        self.now = datetime(2026, 11, 22, 10, tzinfo=UTC)
        self.page_size = 50
        self.tree_page_size = 1000
        self.lock = threading.RLock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads, self._server.block_on_close = True, False
        self._server.hub = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_port}"

    def add_user(self, name, *, orgs=()):
        """Add a user, who is a member of these organizations; returns the token."""
        token = f"hf_{name}"
        self.tokens[token] = name
        for org in orgs:
            self.orgs.setdefault(org, set()).add(name)
        return token

    def tick(self):
        """The date of an event."""
        with self.lock:
            date, self.now = self.now, self.now + timedelta(seconds=1)
            return date.strftime("%Y-%m-%dT%H:%M:%S.000Z")

    def add_repository(self, name, kind="dataset", files=None, *, private=False, sdk=None, author=None):
        """Create a repository as its owner would, with files (bytes by path) in a commit of their own."""
        with self.lock:
            author = author or name.split("/")[0]
            repository = Repository(name, kind, author, self.tick(), private, sdk)
            self.repositories[kind, name] = repository
            start = {".gitattributes": Blob(b"*.parquet filter=lfs diff=lfs merge=lfs -text\n")}
            repository.add_commit(
                "refs/heads/main", start, parents=(), title="initial commit", author=author, date=self.tick()
            )
            if files:
                self.commit(name, kind, files, author=author)
            return repository

    def commit(self, name, kind, files, *, author=None, title="Add files", reference="refs/heads/main"):
        """Commit files to main, or another reference, behind the clients' backs: bytes by path, None to delete."""
        with self.lock:
            repository = self.repositories[kind, name]
            parent = repository.resolve(reference)
            blobs = {path: Blob(c, is_large(path, len(c))) for path, c in files.items() if c is not None}
            tree = {path: blob for path, blob in parent.files.items() if path not in files} | blobs
            author = author or name.split("/")[0]
            return repository.add_commit(
                reference, tree, parents=(parent.sha,), title=title, author=author, date=self.tick()
            )

    def open_pull_request(self, name, kind, author, files, *, title="Please", text=""):
        """Open a pull request as its author would, with anything in it: bytes by path, None to delete."""
        with self.lock:
            repository = self.repositories[kind, name]
            base, date = repository.resolve("main"), self.tick()
            one = Discussion(len(repository.discussions) + 1, title, author, date, base=base.sha)
            repository.discussions.append(one)
            repository.heads[one.reference] = base.sha
            one.add_comment(author, date, text)
            self.push(name, kind, one.number, files)
            return one

    def push(self, name, kind, number, files):
        """Commit to a pull request as its author would."""
        with self.lock:
            repository = self.repositories[kind, name]
            one = repository.discussions[number - 1]
            made = self.commit(name, kind, files, author=one.author, title=one.title, reference=one.reference)
            one.add_event("commit", one.author, made.date, {"subject": one.title, "oid": made.sha})
            return made

    def files(self, name, kind="dataset", revision="main"):
        """What a repository holds: bytes by path, without .gitattributes."""
        with self.lock:
            tree = self.repositories[kind, name].resolve(revision).files
            return {path: blob.content for path, blob in tree.items() if path != ".gitattributes"}

    def commits(self, name, kind="dataset", revision="main"):
        """The commits of a branch, oldest first; the first is the empty one of its creation."""
        with self.lock:
            repository = self.repositories[kind, name]
            return repository.ancestry(repository.resolve(revision).sha)[::-1]

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
            status, message = (401, "Invalid username or password.") if user is None else (404, "Repository not found")
            raise RefusalError(status, message, "RepoNotFound")
        return repository

    def take_fault(self, method, path, user):
        """The fault that this request meets; None where all is well."""
        with self.lock:
            self.requests.append((method, path, user))
            return next((fault for fault in self.faults if fault.takes(method, path, user)), None)

    def find_user(self, header):
        """The user of an Authorization header; None without one."""
        if not header:
            return None
        with suppress(KeyError):
            return self.tokens[header.removeprefix("Bearer ")]
        raise RefusalError(401, "Invalid credentials in Authorization header")
