"""A slow, obvious reader of CoNLL-U files with CorefUD's annotation, line by line."""

import re

from closeread.exceptions import quote

DEFAULT = "eid-etype-head-other"
UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Reader:
    """Reads text; afterwards `documents` and `problems`, as (line, what), are complete."""

    def __init__(self, text):
        self.documents, self.problems = [], []
        self.fields = None
        self.names, self.n_headers, self.outside = {}, 0, None
        self.word = self.empty = self.range_end = 0
        self.sentence = None
        lines = text.removeprefix("\ufeff").removesuffix("\n").split("\n")
        for number, line in enumerate(lines, start=1):
            self.number = number
            self.take(line.removesuffix("\r"))
        self.end_sentence()
        self.end_document()
        if self.outside and self.n_headers:
            self.report("token outside a document (expected '# newdoc id = NAME' before it)", self.outside)
        if not self.documents and not self.problems:
            self.report("contains no document (expected '# newdoc id = NAME' before the first sentence)", None)
        self.find_parents()

    def report(self, what, line=0):
        self.problems.append((self.number if line == 0 else line, what))

    def take(self, line):
        if not line.strip(" \t"):
            self.end_sentence()
        elif re.match(r"#[ \t]*newdoc(?![^\s=])", line):
            self.end_sentence()
            self.end_document()
            self.begin_document(line)
        elif re.match(r"#[ \t]*global\.Entity(?![^\s=])", line):
            match = re.fullmatch(r"#[ \t]*global\.Entity(?:[ \t]*=[ \t]*(.*?))?[ \t]*", line)
            self.declare((match[1] or "") if match else line)
        elif not line.startswith("#"):
            self.take_row(line.split("\t"))

    def begin_document(self, line):
        self.n_headers += 1
        match = re.fullmatch(r"#[ \t]*newdoc(?:[ \t]*|(?:[ \t]+id)?[ \t]*=[ \t]*(.*?)[ \t]*)", line)
        name = ""
        if not match or match[1] == "":
            found = "document without a name" if match else f"{quote(line)} is not valid"
            self.report(f"{found} (expected '# newdoc id = NAME')")
        else:
            name = str(self.n_headers) if match[1] is None else match[1]
            if unsafe := UNSAFE.search(name):
                code = ord(unsafe[0])
                self.report(f"document name {quote(name)} contains the control character U+{code:04X}")
            elif name in self.names:
                numbered = "" if match[1] else "; a document without an id is named by its number"
                self.report(f"duplicate document {quote(name)} (first on line {self.names[name]}){numbered}")
            self.names.setdefault(name, self.number)
        self.add_document(name)

    def add_document(self, name):
        self.documents.append(
            {"name": name, "words": [], "lines": [], "pos": [], "empty": [], "mentions": [], "sentences": 0}
        )
        self.open, self.interrupted = {}, []

    def end_document(self):
        if not self.documents:
            return
        for name, line, _ in (one for stack in self.open.values() for one in stack):
            self.report(f"entity {quote(name)} opens but never closes", line)
        for label, of, mention in self.interrupted:
            found = f"a mention of entity {quote(label)} has only {len(mention['parts'])} of its {of} parts"
            self.report(f"{found} (expected all of them in the same document)", mention["line"])
        self.open, self.interrupted = {}, []

    def end_sentence(self):
        if self.range_end > self.word:
            self.report(f"the sentence ends before word {self.range_end}, the last of a multiword token")
        self.word = self.empty = self.range_end = 0
        self.sentence = None

    def declare(self, value):
        fields = value.split("-")
        known = [field for field in fields if field]
        if len({"eid", "GRP"} & set(known)) != 1 or len(set(known)) < len(known):
            expected = f"expected different fields with either eid or GRP, such as {DEFAULT!r}"
            self.report(f"global.Entity is {quote(value)} ({expected})")
            fields = []
        self.fields = fields

    def take_row(self, cells):
        if len(cells) != 10:
            self.report(f"the number of columns is {len(cells)} (expected 10, separated by tabs)")
            return
        if any(map(UNSAFE.search, cells)):
            self.report("the row contains a control character")
        if not self.documents:
            self.outside = self.number
            self.add_document("1")
        document = self.documents[-1]
        if self.sentence is None:
            self.sentence = {"number": document["sentences"], "ids": {(0, 0): -1}}
            document["sentences"] += 1
        kind, ids = self.take_id(cells[0])
        entities = [part.removeprefix("Entity=") for part in cells[9].split("|") if part.startswith("Entity=")]
        if len(entities) > 1:
            self.report("column 10: Entity is given twice")
        entity = entities[0] if entities else ""
        if kind not in ("word", "empty"):
            if entity and kind == "range":
                self.report("column 10: Entity on a multiword token (expected on its words)")
            return
        if not cells[1]:
            self.report("column 2: the word is empty (expected a word or '_')")
        token = len(document["words"])
        self.sentence["ids"][ids] = token
        if kind == "empty":
            self.take_empty_node(document, token, cells[8])
        document["words"].append("_" if kind == "empty" else cells[1])
        document["lines"].append(self.number)
        document["pos"].append("" if cells[3] == "_" else cells[3])
        self.take_relations(cells[9])
        if entity and self.fields is None:
            expected = f"expected a line such as '# global.Entity = {DEFAULT}' before it"
            self.report(f"column 10: Entity without a declaration of its fields ({expected})")
        elif entity and self.fields:
            self.take_entity(document, token, entity)

    def take_id(self, text):
        match = re.fullmatch(r"([0-9]{1,9})(?:([.-])([0-9]{1,9}))?", text)
        kind = {None: "word", ".": "empty", "-": "range"}[match[2]] if match else None
        number, second = (int(match[1]), int(match[3] or 0)) if match else (0, 0)
        after = self.word + 1
        right = {
            "word": number == after,
            "empty": (number, second) == (self.word, self.empty + 1),
            "range": number == after and second > number and number > self.range_end,
            None: False,
        }[kind]
        if not right:
            place = f" follows word {self.word}" if self.word else ""
            expected = f"expected {after}, {self.word}.{self.empty + 1} or a range from {after}"
            self.report(f"column 1: {quote(text)}{place} ({expected})")
        elif kind == "word":
            self.word, self.empty = number, 0
        elif kind == "empty":
            self.empty = second
        else:
            self.range_end = second
        return kind, (number, second)

    def take_empty_node(self, document, token, cell):
        parents = [] if cell == "_" else [re.fullmatch(r"([0-9]{1,9})(\.[0-9]{1,9})?:(.+)", t) for t in cell.split("|")]
        if not all(parents):
            expected = "expected '_' or PARENT:RELATION, several separated by '|'"
            self.report(f"column 9: {quote(cell)} is not valid ({expected})")
        parents = [(int(match[1]), int((match[2] or ".0")[1:]), match[3]) for match in parents if match]
        document["empty"].append([token, self.sentence, parents, self.number])

    def find_parents(self):
        if self.problems:
            return
        for document in self.documents:
            for node in document["empty"]:
                _, sentence, parents, line = node
                found = []
                for number, second, relation in parents:
                    if (number, second) in sentence["ids"]:
                        found.append((sentence["ids"][number, second], relation))
                    else:
                        text = f"{number}.{second}" if second else str(number)
                        self.report(f"column 9: the parent {text} is not in the sentence", line)
                node[1:] = [sentence["number"], found]

    def take_relations(self, misc):
        expected = {"Bridge": "ID<ID or ID<ID:RELATION", "SplitAnte": "ID<ID"}
        for attribute in misc.split("|"):
            name, _, value = attribute.partition("=")
            for text in value.split(",") if name in expected and value else []:
                pattern = r"([^<>]+)<([^<>:]+)(:[^<>]*)?" if name == "Bridge" else r"([^<>]+)<([^<>]+)"
                match = re.fullmatch(pattern, text)
                if not match or match[1] == match[2]:
                    hint = f"expected {expected[name]} with two entities, several separated by ','"
                    self.report(f"column 10: {quote(text)} is not a valid {name} ({hint})")

    def take_entity(self, document, token, cell):
        pieces = re.findall(r"(\()?([^()]+)(\))?", cell)
        if "".join(map("".join, pieces)) != cell or not all(piece[0] or piece[2] for piece in pieces):
            expected = "(expected '(ID-FIELDS', 'ID)' or '(ID-FIELDS)')"
            self.report(f"column 10: {quote(cell)} is not a valid Entity {expected}")
            return
        for opens, text, closes in pieces:
            if opens:
                self.open_mention(document, token, text, bool(closes))
            else:
                self.close_mention(token, text)

    def open_mention(self, document, token, text, closes):
        values = dict(zip(self.fields, text.split("-", len(self.fields) - 1), strict=False))
        name = values.get("eid", values.get("GRP", ""))
        match = re.fullmatch(r"([^\[]+)\[([1-9][0-9]{0,8})/([1-9][0-9]{0,8})\]", name)
        label, part, of = (match[1], int(match[2]), int(match[3])) if match else (name, 1, 1)
        if not label or part > of or (match and of < 2) or (not match and name.endswith("]")):
            expected = "expected ID or ID[PART/PARTS] with PART from 1 to PARTS"
            self.report(f"column 10: {quote(name)} is not a valid entity id ({expected})")
            return
        if part == 1:
            mention = {"label": label, "line": self.number, "head": None, "parts": [], "type": ""}
            mention["type"] = values.get("etype", values.get("entity", ""))
            mention["opened"], mention["of"] = len(document["mentions"]), of
            document["mentions"].append(mention)
        else:
            found = [one for one in self.interrupted if one[0] == label]
            found = sorted(found, key=lambda one: one[2]["opened"])[:1]
            if not found or not self.continues(found[0], part, of, token):
                before = f"part {part - 1} of {of} before it"
                self.report(f"column 10: part {part} of {of} of entity {quote(label)} without {before}")
                return
            self.interrupted.remove(found[0])
            mention = found[0][2]
        self.take_head(mention, values.get("head"))
        mention["parts"].append([token, token])
        if closes:
            self.end_part(name, label, of, mention)
        else:
            self.open.setdefault(label, []).append((name, self.number, (label, of, mention)))

    @staticmethod
    def continues(interrupted, part, of, token):
        _, its_of, mention = interrupted
        return (its_of, len(mention["parts"])) == (of, part - 1) and mention["parts"][-1][1] < token

    def close_mention(self, token, name):
        label = re.sub(r"\[[0-9]+/[0-9]+\]$", "", name)
        stack = self.open.get(label, [])
        at = [i for i, one in enumerate(stack) if one[0] == name]
        if not at:
            self.report(f"column 10: entity {quote(name)} closes but is not open")
            return
        if stack[-1][0] != name:
            between = f"{quote(stack[-1][0])}, which opens later (line {stack[-1][1]}), is still open"
            self.report(f"column 10: entity {quote(name)} closes while {between}")
        label, of, mention = stack.pop(at[-1])[2]
        mention["parts"][-1][1] = token
        self.end_part(name, label, of, mention)

    def take_head(self, mention, text):
        if not text:
            return
        if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) == 0:
            self.report(f"column 10: {quote(text)} is not a valid head (expected the number of a token, from 1)")
        elif mention["head"] not in (None, int(text)):
            self.report(f"column 10: the head is {text}, but {mention['head']} in another part")
        else:
            mention["head"] = int(text)

    def end_part(self, name, label, of, mention):
        if len(mention["parts"]) < of:
            self.interrupted.append((label, of, mention))
            return
        mention["complete"] = True
        for other in self.documents[-1]["mentions"][: mention["opened"] : -1] if of > 1 else ():
            if other["label"] == label and other["of"] > 1 and "complete" not in other:
                found = f"another mention of it, which opens later (line {other['line']}), lacks parts"
                self.report(f"column 10: entity {quote(name)} closes while {found}")
                break
        tokens = [token for start, end in mention["parts"] for token in range(start, end + 1)]
        if (mention["head"] or 1) > len(tokens):
            found = f"column 10: the head of a mention of entity {quote(name)} is token {mention['head']}"
            self.report(f"{found} (expected at most {len(tokens)}, the number of its tokens)", mention["line"])
            return
        mention["tokens"] = tokens
        mention["head"] = tokens[(mention["head"] or 1) - 1]
