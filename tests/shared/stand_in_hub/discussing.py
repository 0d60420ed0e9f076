"""Answers about discussions and pull requests."""

from shared.stand_in_hub.discussions import Discussion, find_conflicts, merge
from shared.stand_in_hub.messages import RefusalError, reply_json
from shared.stand_in_hub.reading import find_commit, require_user


def find_discussion(repository, number):
    number = int(number)
    if not 1 <= number <= len(repository.discussions):
        raise RefusalError(404, "Discussion not found")
    return repository.discussions[number - 1]


def discussions(hub, request, repository):
    query = request.query
    kinds = {"pull_request": (True,), "discussion": (False,)}.get(query.get("type"), (True, False))
    states = {"open": ("open", "draft"), "closed": ("closed", "merged")}.get(query.get("status"))
    found = [
        one
        for one in reversed(repository.discussions)
        if one.is_pull_request in kinds
        and (states is None or one.status in states)
        and query.get("author", one.author) == one.author
    ]
    start = int(query.get("p", 0)) * hub.page_size
    shown = [one.summary(repository) for one in found[start : start + hub.page_size]]
    return reply_json({"discussions": shown, "count": len(found), "start": start})


def details(hub, request, repository, number):
    return reply_json(find_discussion(repository, number).details(repository))


def open_discussion(hub, request, repository):
    user, wanted, date = require_user(request), request.json, hub.tick()
    one = Discussion(len(repository.discussions) + 1, wanted["title"], user, date)
    repository.discussions.append(one)
    one.add_comment(user, date, wanted["description"])
    if wanted["pullRequest"]:
        one.status, one.base = "draft", find_commit(repository).sha
        repository.heads[one.reference] = one.base
    return reply_json({"num": one.number})


def comment(hub, request, repository, number):
    user = require_user(request)
    event = find_discussion(repository, number).add_comment(user, hub.tick(), request.json["comment"])
    return reply_json({"newMessage": event})


def change_status(hub, request, repository, number):
    user, one, wanted = require_user(request), find_discussion(repository, number), request.json
    if user != one.author and not hub.may_write(user, repository):
        raise RefusalError(403, "You don't have the rights to change the status of this discussion")
    if one.status == "merged":
        raise RefusalError(400, "A merged pull request has no other status")
    if wanted.get("comment"):
        one.add_comment(user, hub.tick(), wanted["comment"])
    return reply_json({"newStatus": one.add_status(user, hub.tick(), wanted["status"])})


def merge_pull_request(hub, request, repository, number):
    user, one = require_user(request), find_discussion(repository, number)
    if not hub.may_write(user, repository):
        raise RefusalError(403, "You don't have the rights to merge this pull request")
    if not one.is_pull_request or one.status not in ("open", "draft"):
        raise RefusalError(400, "Only an open pull request can be merged")
    base, ours, main = repository.commits[one.base], find_commit(repository, one.reference), find_commit(repository)
    if conflicts := find_conflicts(base.files, ours.files, main.files):
        raise RefusalError(409, f"This pull request has conflicts: {', '.join(conflicts)}")
    tree = merge(base.files, ours.files, main.files)
    parents = (main.sha, ours.sha)
    made = repository.add_commit(
        "refs/heads/main", tree, parents=parents, title=f"{one.title} (#{one.number})", author=user, date=hub.tick()
    )
    one.merged = made.sha
    if request.json and request.json.get("comment"):
        one.add_comment(user, hub.tick(), request.json["comment"])
    one.add_status(user, hub.tick(), "merged")
    return reply_json({})
