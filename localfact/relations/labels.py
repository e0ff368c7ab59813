"""Which relation each output of a trained relation model stands for, from the names in its configuration or from its card."""

from collections.abc import Mapping

from localfact.errors import InputError
from localfact.models.model_card import ModelCard
from localfact.vocabulary import RelationLabel

#: How models name the three relations, in any case, their words joined by anything.
SPELLINGS = {
    RelationLabel.ENTAILMENT: ("entailment", "entails", "entail", "entailed", "supports", "supported", "support"),
    RelationLabel.CONTRADICTION: ("contradiction", "contradicts", "contradict", "refutes", "refuted", "refute"),
    RelationLabel.NEUTRAL: ("neutral", "not enough info", "not enough information", "not enough evidence", "nei"),
}


def label_order(card: ModelCard, names: Mapping[int, str]) -> tuple[RelationLabel, ...]:
    """The relation of each output of a model, by the names in its configuration, or by the card where they are generic.

    Raises:
        InputError: there are not three outputs, neither names nor card say what they are, or the two disagree.
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
    """The relation that an output's name means; None for a generic name (LABEL_0)."""
    plain = " ".join(name.casefold().replace("_", " ").replace("-", " ").split())
    return next((label for label, spellings in SPELLINGS.items() if plain in spellings), None)
