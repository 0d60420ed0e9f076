"""Files, commits and branches of a repository, and the difference between two commits as git writes it."""

import difflib
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

LFS_SUFFIXES = (".parquet", ".arrow", ".bin", ".safetensors", ".zip", ".gz", ".png")
LARGE = 10_000_000  # bytes from which every file is stored as a large one


def hash_object(kind, content):
    """The name that git gives to an object."""
    return hashlib.sha1(f"{kind} {len(content)}\0".encode() + content, usedforsecurity=False).hexdigest()


@dataclass(frozen=True)
class Blob:
    content: bytes
    lfs: bool = False

    @property
    def sha256(self):
        return hashlib.sha256(self.content).hexdigest()

    @property
    def stored(self):
        """What git itself holds: a pointer where the content is stored as a large file."""
        if not self.lfs:
            return self.content
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{self.sha256}\nsize {len(self.content)}\n"
        return pointer.encode()

    @property
    def oid(self):
        return hash_object("blob", self.stored)

    @property
    def etag(self):
        return self.sha256 if self.lfs else self.oid


@dataclass(frozen=True)
class Commit:
    sha: str
    parents: tuple[str, ...]
    title: str
    message: str
    author: str
    date: str
    files: Mapping[str, Blob]


@dataclass
class Repository:
    """A repository; `heads` are commits by full reference: refs/heads/main, refs/pr/1."""

    id: str
    kind: str
    author: str
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

    def resolve(self, revision):
        """The commit of a branch, a pull request or a sha; None where there is none."""
        for name in (revision, f"refs/heads/{revision}"):
            if name in self.heads:
                return self.commits[self.heads[name]]
        return self.commits.get(revision)

    def add_commit(self, reference, files, *, parents, title, author, date, message=""):
        """Put a commit on top of a reference."""
        tree = "".join(f"{path} {blob.oid}\n" for path, blob in sorted(files.items()))
        text = "\n".join([*parents, title, message, author, date, str(len(self.commits)), tree])
        sha = hash_object("commit", text.encode())
        self.commits[sha] = Commit(sha, tuple(parents), title, message, author, date, dict(files))
        self.heads[reference] = sha
        return self.commits[sha]

    def ancestry(self, sha):
        """The commit and all before it, along first parents, newest first."""
        chain = []
        while sha is not None:
            commit = self.commits[sha]
            chain.append(commit)
            sha = commit.parents[0] if commit.parents else None
        return chain


def is_large(path, size):
    return path.endswith(LFS_SUFFIXES) or size >= LARGE


def diff(before, after):
    """All changed files of two trees in git's unified format."""
    changed = [path for path in sorted(before.keys() | after.keys()) if before.get(path) != after.get(path)]
    return "".join(_diff_file(path, before.get(path), after.get(path)) for path in changed)


def _diff_file(path, old, new):
    a, b = _quote(f"a/{path}"), _quote(f"b/{path}")
    lines = [f"diff --git {a} {b}\n"]
    if old is None:
        lines.append("new file mode 100644\n")
    if new is None:
        lines.append("deleted file mode 100644\n")
    mode = " 100644" if old and new else ""
    lines.append(f"index {old.oid[:7] if old else '0' * 7}..{new.oid[:7] if new else '0' * 7}{mode}\n")
    a, b = (a if old else "/dev/null"), (b if new else "/dev/null")
    if any(blob is not None and (blob.lfs or b"\0" in blob.content) for blob in (old, new)):
        return "".join([*lines, f"Binary files {a} and {b} differ\n"])
    sides = [[] if blob is None else blob.content.decode(errors="replace").split("\n") for blob in (old, new)]
    texts = [[f"{line}\n" for line in side[:-1]] + side[-1:] * bool(side and side[-1]) for side in sides]
    shown = difflib.unified_diff(*texts, a, b)
    lines += [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in shown]
    return "".join(lines)


def _quote(path):
    """Quote a path as git does where it holds anything but printable ASCII."""
    special = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}
    codes = path.encode()
    if all(32 <= code < 127 and code not in special for code in codes):
        return path
    quoted = (special.get(c) or (chr(c) if 32 <= c < 127 else f"\\{c:03o}") for c in codes)
    return f'"{"".join(quoted)}"'
