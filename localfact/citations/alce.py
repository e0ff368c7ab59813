"""Citation recall and precision as ALCE defines them (Gao, Yen, Yu and Chen 2023, "Enabling Large Language Models to Generate
Text with Citations", citation quality; the rules of its released evaluation where the paper is silent).

Recall of a sentence is 1 where its citations, joined, entail it, and 0 else, as for a sentence without any. A citation is
irrelevant where it alone does not entail the sentence and the sentence's other citations still do without it; it counts as
precise where it is not irrelevant and its sentence has recall 1. A response's recall is the mean over its sentences, its
precision the mean over its citations. ALCE counts a precision of 0 where nothing is cited; here it is undefined.
"""

from collections.abc import Sequence
from typing import NamedTuple


class JudgedSentence(NamedTuple):
    """What was found of one sentence.

    Attributes:
        together: whether its citations, joined, entail it; False without any; None where that failed.
        alone: for each citation whether it alone does. others: whether the sentence's other citations do without it; False for
            an only one; None where that was not asked, because the citation alone does, or together they do not.
    """

    together: bool | None
    alone: Sequence[bool | None] = ()
    others: Sequence[bool | None] = ()

    @property
    def precise(self) -> list[bool | None]:
        """For each citation whether it counts; None where that is not known."""
        return [self._counts(alone, others) for alone, others in zip(self.alone, self.others, strict=True)]

    def _counts(self, alone: bool | None, others: bool | None) -> bool | None:
        if self.together is None or alone is None:
            return None
        if not self.together:
            return False
        if alone:
            return True
        return None if others is None else not others


def recall(sentences: Sequence[JudgedSentence]) -> float | None:
    """The share of the sentences that their citations entail, in [0, 1]; failed ones left out; None without any."""
    known = [one.together for one in sentences if one.together is not None]
    return sum(known) / len(known) if known else None


def precision(sentences: Sequence[JudgedSentence]) -> float | None:
    """The share of the citations that are precise, in [0, 1]; failed ones left out; None where nothing is cited."""
    known = [counts for one in sentences for counts in one.precise if counts is not None]
    return sum(known) / len(known) if known else None
