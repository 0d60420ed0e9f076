"""Valid Universal Anaphora files, read slowly and obviously.

A document is {"mentions": {(entity, tokens, minimum tokens)}, "non_referring": {entity: {tokens}},
"antecedents": {entity: {entity}}, "bridging": {(tokens, tokens)}} of a layer; tokens are frozen sets.
"""


def read_layer(text, column="IDENTITY"):
    """Read a layer: its documents by name."""
    documents, rows, columns = {}, [], []
    for line in text.split("\n"):
        if line.startswith("# global.columns"):
            columns = line.split("=")[1].split()
        elif line.startswith("# newdoc id = "):
            rows = documents.setdefault(line.removeprefix("# newdoc id = ").strip(), [])
        elif line.strip() and not line.startswith("#"):
            rows.append(dict(zip(columns, line.split(), strict=False)))
    return {name: _read_document(rows, column) for name, rows in documents.items()}


def _read_document(rows, column):
    words = [token for token, row in enumerate(rows) if "." not in row["ID"]]
    markables, open_names = {}, []
    for token, row in enumerate(rows):
        cell = row[column]
        while cell not in ("", "_"):
            if cell.startswith("("):
                end = min(
                    place for place in (cell.find("(", 1), cell.find(")"), len(cell)) if place > 0
                )
                fields = dict(pair.split("=") for pair in cell[1:end].split("|"))
                name = fields["MarkableID"]
                markables.setdefault(name, {**fields, "brackets": [], "whole": set()})
                markables[name]["whole"] |= set(fields.get("ElementOf", "").split(",")) - {""}
                markables[name]["brackets"].append([token, None])
                open_names.append(name)
                cell = cell[end:]
            else:
                name, _, cell = cell.partition(")")
                name = name or open_names[-1]
                open_names.reverse()
                open_names.remove(name)
                open_names.reverse()
                [bracket] = [
                    bracket for bracket in markables[name]["brackets"] if bracket[1] is None
                ]
                bracket[1] = token
    for markable in markables.values():
        brackets = markable["brackets"]
        inside = {word for word in words if any(first <= word <= last for first, last in brackets)}
        markable["tokens"] = frozenset(inside or {brackets[0][0]})
    return {
        "mentions": {
            (markable["EntityID"], markable["tokens"], _minimum(markable, words))
            for markable in markables.values()
            if not markable["EntityID"].endswith("-Pseudo")
        },
        "non_referring": _group(
            markables, lambda markable: markable["EntityID"].endswith("-Pseudo")
        ),
        "antecedents": _antecedents(markables),
        "bridging": _bridging(rows, markables) if column == "IDENTITY" else set(),
    }


def _minimum(markable, words):
    if "Min" not in markable:
        return frozenset()
    first, *rest = map(int, markable["Min"].split(","))
    return frozenset(
        words[number - 1]
        for number in range(first, (rest or [first])[0] + 1)
        if number <= len(words)
    )


def _group(markables, accepts):
    groups = {}
    for markable in markables.values():
        if accepts(markable):
            groups.setdefault(markable["EntityID"], set()).add(markable["tokens"])
    return groups


def _antecedents(markables):
    direct = {}
    for markable in markables.values():
        for whole in markable["whole"]:
            direct.setdefault(whole, set()).add(markable["EntityID"])

    def leaves(entity):
        return set().union(*map(leaves, direct[entity])) if entity in direct else {entity}

    return {whole: leaves(whole) for whole in direct}


def _bridging(rows, markables):
    anchors = {}
    for row in rows:
        for piece in row["BRIDGING"].split("(")[1:]:
            fields = dict(pair.split("=") for pair in piece.strip(")").split("|"))
            anchors[fields["MarkableID"]] = fields["MentionAnchor"]
    pairs = {}
    for anaphor, anchor in anchors.items():
        if anaphor in markables and anchor in markables:
            pairs[markables[anaphor]["tokens"]] = markables[anchor]["tokens"]
    return set(pairs.items())
