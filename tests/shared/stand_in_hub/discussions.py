"""Discussions and pull requests."""

from dataclasses import dataclass, field

from shared.stand_in_hub.history import diff


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
        number = f"{self.number:08x}{len(self.events):016x}"
        event = {
            "id": number,
            "type": kind,
            "createdAt": date,
            "author": {"name": author, "type": "user"},
            "data": data,
        }
        self.events.append(event)
        return event

    def add_comment(self, author, date, text):
        latest = {"raw": text, "html": f"<p>{text}</p>", "updatedAt": date, "author": {"name": author}}
        return self.add_event(
            "comment", author, date, {"edited": False, "hidden": False, "latest": latest, "history": []}
        )

    def add_status(self, author, date, status):
        self.status = status
        return self.add_event("status-change", author, date, {"status": status})

    def summary(self, repository):
        return {
            "num": self.number,
            "title": self.title,
            "status": self.status,
            "isPullRequest": self.is_pull_request,
            "createdAt": self.created,
            "author": {"name": self.author, "type": "user"},
            "repo": {"name": repository.id, "type": repository.kind},
        }

    def details(self, repository):
        shown = self.summary(repository) | {"events": self.events}
        if not self.is_pull_request:
            return shown
        changes = {"base": "refs/heads/main"} | ({"mergeCommitId": self.merged} if self.merged else {})
        before, after = repository.commits[self.base].files, repository.resolve(self.reference).files
        conflicts = find_conflicts(before, after, repository.resolve("main").files)
        return shown | {"changes": changes, "filesWithConflicts": conflicts, "diff": diff(before, after)}


def find_conflicts(base, ours, theirs):
    """Paths that both sides changed, each in its own way."""
    paths = base.keys() | ours.keys() | theirs.keys()
    sides = {path: (base.get(path), ours.get(path), theirs.get(path)) for path in paths}
    return sorted(p for p, (b, o, t) in sides.items() if o not in (b, t) and t != b)


def merge(base, ours, theirs):
    """The tree of `theirs` with what `ours` changed since `base`."""
    merged = dict(theirs)
    for path in base.keys() | ours.keys():
        if base.get(path) != ours.get(path):
            merged.pop(path, None)
            if path in ours:
                merged[path] = ours[path]
    return merged
