"""Settings of training models of links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from closeread.parameters import TrainingSettings


@dataclass(frozen=True)
class Settings(TrainingSettings):
    """How to train a model of links between noun phrases.

    Attributes:
        encoder: Fine-tune this encoder: a name on the Hugging Face Hub, or a folder.  frozen:NAME keeps its weights
            fixed; static:FILE uses word vectors from a file; static:corpus trains them on the training documents.
        batch_size: Train on batches of N documents.
        encoder_dropout: Dropout inside an encoder that is fine-tuned.  [default: its own]
        variant: Predict links and their prepositions together, or first links, then prepositions.
    """

    variant: Literal["coupled", "decoupled"] = "coupled"
