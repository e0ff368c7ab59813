"""A pair as the student reads it: the tokens of both, which of them the other has, and what values make of the pair.

The type of a token says whose it is (`match_types.py`); that of the first token, which is of neither text,
says what the value room finds: an input of the network, and no rule laid over its outputs.
"""

from localfact.models.cross_encoder import TYPES, Tokens
from localfact.models.model_card import ModelCard
from localfact.models.onnx import OnnxTokenizer
from localfact.records import Pair
from localfact.relations.crossencoder import CrossEncoderRelationModel, cross_encoder_identity
from localfact.relations.values.correcting import CORRECTION_VERSION, SURE, finding_of
from localfact.relations.values.judging import Ruling, ValueFinding
from scripts.teaching.match_types import SHARED_IN_PREMISE, match_types
from scripts.teaching.pairs import PAIR

#: The first type that stands for a finding, and how many there are: nothing; the same, weak or sure; another value, weak,
#: strong, or sure of a slot that has one value.
FIRST_FINDING, FINDINGS = SHARED_IN_PREMISE + 1, 6


def finding_type(found: ValueFinding) -> int:
    """The type of a pair's first token."""
    if found.ruling is Ruling.NOTHING:
        return FIRST_FINDING
    strong = found.strength >= SURE
    if found.ruling is Ruling.SAME:
        return FIRST_FINDING + (2 if strong else 1)
    return FIRST_FINDING + (5 if found.sure else 4 if strong else 3)


def read_pair(tokenizer: OnnxTokenizer, pair: Pair) -> Tokens:
    """The tokens of a window and a claim, as `StudentRelations` reads them."""
    fields = tokenizer(pair.premise, pair.hypothesis, truncation="only_first", max_length=PAIR)
    return marked(Tokens(fields), pair, tokenizer)


def marked(tokens: Tokens, pair: Pair, tokenizer: OnnxTokenizer) -> Tokens:
    """The tokens with the student's types."""
    fields = tokens.fields
    types = match_types(fields["input_ids"], fields[TYPES], frozenset(tokenizer.all_special_ids))
    return Tokens({**fields, TYPES: [finding_type(finding_of(pair)), *types[1:]]})


class StudentRelations(CrossEncoderRelationModel):
    """The relation model that is judged: the student, read as it was taught."""

    def __init__(self, card: ModelCard) -> None:
        super().__init__(card)
        self.identity = student_identity(card)

    def _tokens(self, pair: Pair) -> Tokens:
        return marked(super()._tokens(pair), pair, self._encoder.tokenizer)


def student_identity(card: ModelCard) -> str:
    """As of any cross-encoder, and the version of what finds values."""
    return f"{cross_encoder_identity(card)}+findings={CORRECTION_VERSION}"
