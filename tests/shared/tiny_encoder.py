"""A random encoder of two layers, with a tokenizer made for some words."""

import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def make_tokenizer(words, longest):
    """A WordPiece tokenizer that knows some words whole, and cuts all others into characters."""
    characters = sorted({c for word in words for c in word.lower()})
    pieces = [
        *SPECIAL,
        *characters,
        *(f"##{c}" for c in characters),
        *sorted({word.lower() for word in words}),
    ]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    tokenizer = Tokenizer(
        models.WordPiece(vocabulary, unk_token=SPECIAL[1], max_input_chars_per_word=100)
    )
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    names = {f"{name.strip('[]').lower()}_token": name for name in SPECIAL}
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=longest, **names
    )


def make_encoder(folder, words, *, longest=64, width=32, dropout=0.1, seed=0):
    """Save a random BERT of two layers and its tokenizer to a folder, and return the folder."""
    tokenizer = make_tokenizer(words, longest)
    torch.manual_seed(seed)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=2 * width,
        max_position_embeddings=longest,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
    )
    transformers.BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
