"""How likely a text is after another, one piece at a time."""

import torch


def cut(tokenizer, text):
    """The pieces of a text, without special tokens."""
    return tokenizer(text, add_special_tokens=False)["input_ids"]


def masked_likelihood(tokenizer, model, first, second):
    """The mean log-probability of the pieces of the second text, each masked alone."""
    before, answer = [tokenizer.cls_token_id, *cut(tokenizer, first)], cut(tokenizer, second)
    total = 0.0
    for place, piece in enumerate(answer):
        visible = list(answer)
        visible[place] = tokenizer.mask_token_id
        with torch.inference_mode():
            logits = model(
                input_ids=torch.tensor([[*before, *visible, tokenizer.sep_token_id]])
            ).logits
        total += float(logits[0, len(before) + place].log_softmax(-1)[piece])
    return total / len(answer)


def causal_likelihood(tokenizer, model, first, second, start=()):
    """The mean log-probability of the pieces of the second text, each after all before."""
    seen, answer = [*start, *cut(tokenizer, first)], cut(tokenizer, second)
    total = 0.0
    for piece in answer:
        with torch.inference_mode():
            logits = model(input_ids=torch.tensor([seen])).logits
        total += float(logits[0, -1].log_softmax(-1)[piece])
        seen.append(piece)
    return total / len(answer)
