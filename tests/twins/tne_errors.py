"""What a pair of noun phrases belongs to, from the definitions."""

UNBOUNDED = 10**9
BINS = {
    "0 to 5": 5,
    "6 to 10": 10,
    "11 to 20": 20,
    "21 to 50": 50,
    "51 to 100": 100,
    "over 100": UNBOUNDED,
}


class Places:
    """The noun phrases of a document by id, and what pairs of them belong to."""

    def __init__(self, record):
        self.nps = {np["id"]: np for np in record["nps"]}
        self.cluster = {
            member: cluster["members"]
            for cluster in record["coref"]
            for member in cluster["members"]
        }
        ends = [0]
        for token in record["tokens"]:
            ends.append(ends[-1] + (token in {".", "!", "?"} or "\n" in token))
        self.sentence = {name: ends[np["first_token"]] for name, np in self.nps.items()}

    def distance(self, anchor, complement):
        tokens = abs(self.nps[anchor]["first_token"] - self.nps[complement]["first_token"])
        return next(name for name, highest in BINS.items() if tokens <= highest)

    def direction(self, anchor, complement):
        first, second = self.nps[anchor]["first_token"], self.nps[complement]["first_token"]
        return "same token" if first == second else "before" if second < first else "after"

    def in_sentence(self, anchor, complement):
        return "same" if self.sentence[anchor] == self.sentence[complement] else "other"

    def mention(self, anchor, complement):
        members = self.cluster[complement]
        if len(members) == 1:
            return "only"
        order = [
            (self.nps[m]["first_token"], -self.nps[m]["last_token"], int(m.removeprefix("np")))
            for m in members
        ]
        return "first" if members[order.index(min(order))] == complement else "further"

    def find(self, field, pair):
        return (self.in_sentence if field == "sentence" else getattr(self, field))(*pair)
