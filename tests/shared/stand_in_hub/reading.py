"""What the Hub tells: users, repositories, files."""

import re

from shared.stand_in_hub.history import hash_object
from shared.stand_in_hub.messages import RefusalError, Reply, reply_json


def find_commit(repository, revision="main"):
    commit = repository.resolve(revision)
    if commit is None:
        raise RefusalError(404, f"Invalid rev id: {revision}", "RevisionNotFound")
    return commit


def require_user(request):
    if request.user is None:
        raise RefusalError(401, "Invalid username or password.")
    return request.user


def whoami(hub, request):
    name = require_user(request)
    orgs = [{"name": org, "type": "org", "roleInOrg": "write"} for org, users in hub.orgs.items() if name in users]
    return reply_json(
        {
            "type": "user",
            "id": hash_object("user", name.encode())[:24],
            "name": name,
            "fullname": name.title(),
            "email": f"{name}@example.org",
            "emailVerified": True,
            "canPay": False,
            "isPro": False,
            "avatarUrl": f"{hub.url}/avatars/{name}.svg",
            "orgs": orgs,
            "auth": {"type": "access_token", "accessToken": {"displayName": "stand-in", "role": "write"}},
        }
    )


def info(hub, request, repository, revision="main"):
    commit = find_commit(repository, revision)
    siblings = [{"rfilename": path} for path in sorted(commit.files)]
    if "blobs" in request.query:
        siblings = [entry | describe(commit.files[entry["rfilename"]]) for entry in siblings]
    shown = {
        "_id": hash_object("repository", repository.id.encode())[:24],
        "id": repository.id,
        "sha": commit.sha,
        "author": repository.id.split("/")[0],
        "private": repository.private,
        "gated": False,
        "disabled": False,
        "downloads": 0,
        "likes": 0,
        "tags": [],
        "createdAt": repository.created,
        "lastModified": commit.date,
        "siblings": siblings,
    }
    shown |= {"sdk": repository.sdk} if repository.sdk else {}
    if "expand" not in request.query:
        return reply_json(shown)
    return reply_json({"_id": shown["_id"], "id": shown["id"]} | {key: shown[key] for key in request.lists["expand"]})


def describe(blob):
    """Size and names of a file."""
    shown = {"size": len(blob.content), "oid": blob.oid}
    if not blob.lfs:
        return shown
    return shown | {"lfs": {"oid": blob.sha256, "size": len(blob.content), "pointerSize": len(blob.stored)}}


def list_entries(commit, expand):
    """All files and folders of a commit by path; the last commit of each is said to be this one."""
    last = {"lastCommit": {"id": commit.sha, "title": commit.title, "date": commit.date}} if expand else {}
    entries = {}
    for path, blob in commit.files.items():
        entries[path] = {"type": "file", "path": path, **describe(blob), **last}
        steps = path.split("/")[:-1]
        for folder in ("/".join(steps[: i + 1]) for i in range(len(steps))):
            entries[folder] = {"type": "directory", "path": folder, "oid": hash_object("tree", folder.encode())}
            entries[folder] |= {"size": 0, **last}
    return entries


def is_set(request, name):
    return request.query.get(name, "").lower() in ("true", "1")


def tree(hub, request, repository, revision, path=""):
    commit = find_commit(repository, revision)
    entries = list_entries(commit, is_set(request, "expand"))
    if path and entries.get(path, {}).get("type") != "directory":
        raise RefusalError(404, f"{path} does not exist on {revision}", "EntryNotFound")
    below = [p for p in sorted(entries) if not path or p.startswith(f"{path}/")]
    if not is_set(request, "recursive"):
        below = [p for p in below if "/" not in p[len(path) :].lstrip("/")]
    start = int(request.query.get("cursor", 0))
    stop = start + hub.tree_page_size
    headers = {}
    if stop < len(below):
        query = "&".join(f"{name}={request.query[name]}" for name in ("recursive", "expand") if name in request.query)
        headers["Link"] = f'<{hub.url}{request.path}?{query}&cursor={stop}>; rel="next"'
    return reply_json([entries[p] for p in below[start:stop]], headers=headers)


def paths_info(hub, request, repository, revision):
    expand = request.form.get("expand", [""])[-1].lower() == "true"
    entries = list_entries(find_commit(repository, revision), expand)
    return reply_json([entries[path] for path in request.form.get("paths", []) if path in entries])


def commits(hub, request, repository, revision):
    chain = repository.ancestry(find_commit(repository, revision).sha)
    return reply_json(
        [
            {"id": c.sha, "title": c.title, "message": c.message, "authors": [{"user": c.author}], "date": c.date}
            for c in chain
        ]
    )


def resolve(hub, request, repository, revision, path):
    commit = find_commit(repository, revision)
    blob = commit.files.get(path)
    if blob is None:
        raise RefusalError(404, "Entry not found", "EntryNotFound", X_Repo_Commit=commit.sha)
    headers = {"ETag": f'"{blob.etag}"', "X-Repo-Commit": commit.sha, "Accept-Ranges": "bytes"}
    headers["Content-Type"] = "application/octet-stream"
    size = len(blob.content)
    if blob.lfs:
        headers |= {"X-Linked-Size": str(size), "X-Linked-ETag": f'"{blob.sha256}"'}
    wanted = re.fullmatch(r"bytes=(\d*)-(\d*)", request.headers.get("Range", ""))
    if request.method == "HEAD" or not wanted:
        return Reply(blob.content, 200, headers)
    first, last = wanted.groups()
    start = int(first) if first else size - int(last)
    stop = min(int(last) + 1, size) if first and last else size
    if start >= size:
        raise RefusalError(416, "Range not satisfiable", Content_Range=f"bytes */{size}")
    return Reply(blob.content[start:stop], 206, headers | {"Content-Range": f"bytes {start}-{stop - 1}/{size}"})
