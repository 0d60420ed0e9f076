"""Links between spans, one pair at a time, with the two vectors side by side."""

import torch
from torch.nn import functional


def score_pair(head, anchor, complement):
    """The scores of a pair's labels, by one matrix for both ends."""
    weight = torch.cat([head.anchor.weight, head.complement.weight], dim=1)
    hidden = torch.relu(weight @ torch.cat([anchor, complement]) + head.anchor.bias)
    return head.scores.weight @ hidden + head.scores.bias


def find_losses(model, documents, links):
    """The sums of the losses over all pairs, and over links.

    Args:
        model: a link model that is not being trained.
        documents: the vectors of the spans of every document.
        links: from (document, anchor, complement) to the label.
    """
    of_pairs = of_links = 0.0
    for document, vectors in enumerate(documents):
        for a, anchor in enumerate(vectors):
            for c, complement in enumerate(vectors):
                if a == c:
                    continue
                label = links.get((document, a, c), 0)
                ends = model.anchor(anchor), model.complement(complement)
                scores = score_pair(model.label_head, *ends)
                if model.link_head is None:
                    of_pairs += functional.cross_entropy(scores, torch.tensor(label))
                    continue
                of_pairs += functional.cross_entropy(
                    score_pair(model.link_head, *ends), torch.tensor(int(label > 0))
                )
                if label:
                    of_links += functional.cross_entropy(scores, torch.tensor(label - 1))
    return of_pairs, of_links


def decode(model, documents):
    """The label and whether there is a link, for every pair (document, anchor, complement)."""
    found = {}
    for document, vectors in enumerate(documents):
        for a, anchor in enumerate(vectors):
            for c, complement in enumerate(vectors):
                if a == c:
                    continue
                ends = model.anchor(anchor), model.complement(complement)
                scores = score_pair(model.label_head, *ends)
                if model.link_head is None:
                    found[document, a, c] = int(scores[1:].argmax()) + 1, int(scores.argmax()) > 0
                else:
                    linked = int(score_pair(model.link_head, *ends).argmax()) > 0
                    found[document, a, c] = int(scores.argmax()) + 1, linked
    return found
