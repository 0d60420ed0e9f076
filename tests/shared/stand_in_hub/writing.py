"""What changes a repository: creating it, uploading and committing."""

import base64
import hashlib
import json
from fnmatch import fnmatch

import yaml
from shared.stand_in_hub.discussions import Discussion
from shared.stand_in_hub.history import Blob, is_large
from shared.stand_in_hub.messages import RefusalError, Reply, reply_json
from shared.stand_in_hub.reading import find_commit, require_user

COLORS = ("red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray")


def create(hub, request):
    user, wanted = require_user(request), request.json
    owner, kind, sdk = wanted.get("organization") or user, wanted.get("type") or "model", wanted.get("sdk")
    name = f"{owner}/{wanted['name']}"
    if owner != user and user not in hub.orgs.get(owner, ()):
        raise RefusalError(403, f'You don\'t have the rights to create a {kind} under the namespace "{owner}"')
    prefix = "" if kind == "model" else f"{kind}s/"
    found = {"url": f"{hub.url}/{prefix}{name}", "name": name, "id": name}
    if (kind, name) in hub.repositories:
        return reply_json({"error": f"You already created this {kind} repo", "url": found["url"]}, 409)
    if kind == "space" and sdk != "static":
        raise RefusalError(402, "Compute Spaces need a paid plan: upgrade to PRO")
    hub.add_repository(name, kind, private=wanted.get("visibility") == "private", sdk=sdk, author=user)
    return reply_json(found)


def validate_front_matter(hub, request):
    """Judge the front matter of a README, as far as anything of ours could be wrong."""
    content, kind = request.json["content"], request.json["repoType"]
    parts = content.split("---\n", 2)
    if not content.startswith("---\n") or len(parts) < 3:
        return reply_json({"errors": [], "warnings": [{"message": "empty or missing yaml metadata in repo card"}]})
    try:
        data = yaml.safe_load(parts[1])
    except yaml.YAMLError as error:
        data = f"is no YAML: {error}"
    errors = []
    if not isinstance(data, dict):
        errors.append(f"front matter is not a mapping: {data!r}")
    elif kind == "space":
        if data.get("sdk") not in ("static", "gradio", "docker"):
            errors.append('"sdk" must be one of static, gradio, docker')
        errors += [f'"{key}" must be a color' for key in ("colorFrom", "colorTo") if data.get(key, "red") not in COLORS]
        if len(data.get("short_description", "")) > 60:
            errors.append('"short_description" must have at most 60 characters')
    status = 400 if errors else 200
    return reply_json({"errors": [{"message": text} for text in errors], "warnings": []}, status)


def check_permission(hub, request, repository, revision):
    """Refuse who may not commit there: main is the owner's, a pull request also its author's."""
    user = require_user(request)
    if "create_pr" in request.query or hub.may_write(user, repository):
        return user
    mine = [d.reference for d in repository.discussions if d.author == user and d.is_pull_request]
    if revision not in mine:
        raise RefusalError(403, "Authorization error: you don't have write access to this repository")
    return user


def preupload(hub, request, repository, revision):
    check_permission(hub, request, repository, revision)
    commit = find_commit(repository, revision)
    ignored = commit.files[".gitignore"].content.decode().split() if ".gitignore" in commit.files else []
    found = []
    for wanted in request.json["files"]:
        path = wanted["path"]
        mode = "lfs" if is_large(path, wanted["size"]) else "regular"
        is_ignored = any(fnmatch(path, pattern) for pattern in ignored)
        entry = {"path": path, "uploadMode": mode, "shouldIgnore": is_ignored}
        if path in commit.files:
            entry["oid"] = commit.files[path].etag
        found.append(entry)
    return reply_json({"files": found, "commitOid": commit.sha})


def batch(hub, request, repository):
    require_user(request)
    objects = []
    for wanted in request.json["objects"]:
        known = wanted["oid"] in repository.large
        href = f"{hub.url}/lfs/{repository.kind}/{repository.id}/{wanted['oid']}"
        objects.append(wanted | {"authenticated": True} | ({} if known else {"actions": {"upload": {"href": href}}}))
    return reply_json({"transfer": "basic", "objects": objects}, content_type="application/vnd.git-lfs+json")


def upload(hub, request, of, name, oid):
    """Keep an object; like the real storage, it asks for no token, since the address is the permission."""
    if hashlib.sha256(request.body).hexdigest() != oid:
        raise RefusalError(400, "The content has another digest than its address")
    hub.repositories[of, name].large[oid] = request.body
    return Reply()


def commit(hub, request, repository, revision):
    user = check_permission(hub, request, repository, revision)
    lines = [json.loads(line) for line in request.body.splitlines()]
    assert lines[0]["key"] == "header"
    header, as_request = lines[0]["value"], "create_pr" in request.query
    head = find_commit(repository, revision)
    parent = header.get("parentCommit")
    if parent is not None and parent != head.sha and not as_request:
        raise RefusalError(412, "A commit has happened since. Please refresh and try again.")
    start = find_commit(repository, parent) if parent and as_request else head
    tree = dict(start.files)
    for line in lines[1:]:
        apply(repository, tree, line["key"], line["value"])
    date, title, message = hub.tick(), header["summary"], header.get("description", "")
    found = {"success": True, "hookOutput": ""}
    reference = revision if revision in repository.heads else f"refs/heads/{revision}"
    request_made = None
    if as_request:
        request_made = Discussion(len(repository.discussions) + 1, title, user, date, base=start.sha)
        repository.discussions.append(request_made)
        reference = request_made.reference
        request_made.add_comment(user, date, message)
        found["pullRequestUrl"] = f"{hub.url}/{repository.url}/discussions/{request_made.number}"
    made = repository.add_commit(
        reference, tree, parents=(start.sha,), title=title, message=message, author=user, date=date
    )
    for one in repository.discussions:
        if one.reference == reference:
            one.add_event("commit", user, date, {"subject": title, "oid": made.sha})
    return reply_json(found | {"commitOid": made.sha, "commitUrl": f"{hub.url}/{repository.url}/commit/{made.sha}"})


def apply(repository, tree, key, value):
    """Carry out one line of a commit."""
    path = value["path"]
    if key == "file":
        assert value["encoding"] == "base64"
        tree[path] = Blob(base64.b64decode(value["content"]))
    elif key == "lfsFile":
        if value["oid"] not in repository.large:
            raise RefusalError(400, f"{path}: the large file was not uploaded")
        tree[path] = Blob(repository.large[value["oid"]], lfs=True)
    elif key in ("deletedFile", "deletedFolder"):
        gone = [p for p in tree if p == path or (key == "deletedFolder" and p.startswith(f"{path.rstrip('/')}/"))]
        if not gone:
            raise RefusalError(404, "A file with this name doesn't exist", "EntryNotFound")
        for one in gone:
            del tree[one]
    else:
        raise RefusalError(400, f"unknown operation {key}")
