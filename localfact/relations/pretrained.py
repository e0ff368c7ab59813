"""A trained cross-encoder as it lies in its folder: model and tokenizer, what its outputs stand for, how much it reads.

Below crossencoder.py, which asks it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from localfact.errors import InputError
from localfact.modelcards import ModelCard
from localfact.vocabulary import RelationLabel

#: How models name the three relations, in any case, their words joined by anything.
SPELLINGS = {
    RelationLabel.ENTAILMENT: ("entailment", "entails", "entail", "entailed", "supports", "supported", "support"),
    RelationLabel.CONTRADICTION: ("contradiction", "contradicts", "contradict", "refutes", "refuted", "refute"),
    RelationLabel.NEUTRAL: ("neutral", "not enough info", "not enough information", "not enough evidence", "nei"),
}
#: Models whose positions are counted from behind the padding token's number.
OFFSET_POSITIONS = ("roberta", "xlm-roberta", "camembert", "mpnet", "longformer")


def label_order(card: ModelCard, names: Mapping[int, str]) -> tuple[RelationLabel, ...]:
    """What each output of a model stands for, by the names in its configuration, or by the card where they are generic.

    Raises:
        InputError: there are not three outputs, the names tell nothing and the card neither, or the two disagree.
    """
    read = tuple(label_of(str(names[index])) for index in sorted(names))
    written = ", ".join(str(names[index]) for index in sorted(names))
    known = tuple(label for label in read if label is not None)
    stated = tuple(map(RelationLabel, card.labels or ()))
    if len(read) != len(SPELLINGS) or (known and set(known) != set(SPELLINGS)):
        raise InputError(
            f"The model '{card.name}' has the outputs {written}; a relation model has entailment, contradiction and neutral."
        )
    if not known and set(stated) != set(SPELLINGS):
        raise InputError(
            f"The model '{card.name}' calls its outputs {written}. Say in its card which is which: "
            "labels: [entailment, contradiction, neutral], in their order."
        )
    if known and stated and known != stated:
        raise InputError(
            f"The model '{card.name}' calls its outputs {written}, and its card says {', '.join(stated)}. Mend the card."
        )
    return known or stated


def label_of(name: str) -> RelationLabel | None:
    """The relation that a name means; None for a name that tells nothing (LABEL_0)."""
    plain = " ".join(name.casefold().replace("_", " ").replace("-", " ").split())
    return next((label for label, spellings in SPELLINGS.items() if plain in spellings), None)


def window_of(card: ModelCard, config: Any, tokenizer: Any) -> int:
    """How many tokens a model reads: the least that the card, the tokenizer and the configuration allow.

    Raises:
        InputError: none of them says.
    """
    positions = getattr(config, "max_position_embeddings", None)
    if positions and config.model_type in OFFSET_POSITIONS:
        positions -= (config.pad_token_id or 0) + 1
    stated = [limit for limit in (card.window, positions, tokenizer.model_max_length) if limit and limit < 1e9]
    if not stated:
        raise InputError(f"Nothing says how many tokens the model '{card.name}' reads: give `window` in its card.")
    return int(min(stated))


def load(folder: Path, card: ModelCard, precision: str) -> tuple[Any, Any]:
    """The model, ready to answer, and its tokenizer.

    Raises:
        InputError: they cannot be loaded, or the weights have no head that was taught to classify.
    """
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModelForSequenceClassification, AutoTokenizer
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        # Texts are data: a page that spells one of the tokenizer's marks must not end the premise and begin another hypothesis.
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, split_special_tokens=True)
        model, told = AutoModelForSequenceClassification.from_pretrained(
            folder, local_files_only=True, dtype=getattr(torch, precision), output_loading_info=True
        )
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise InputError(f"The folder {folder} could not be loaded as the relation model '{card.name}': {error}") from error
    if told["missing_keys"]:
        raise InputError(
            f"The folder {folder} holds no relation model: its weights lack {min(told['missing_keys'])}. "
            "Give a model that was trained for sequence classification."
        )
    return model.eval(), tokenizer
