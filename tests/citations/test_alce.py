"""ALCE's scores, on cases worked out by hand."""

import pytest

from localfact.citations.alce import JudgedSentence, precision, recall


@pytest.mark.parametrize(
    ("sentence", "precise"),
    [
        (JudgedSentence(together=False), []),
        (JudgedSentence(True, [True], [False]), [True]),
        (JudgedSentence(False, [False], [False]), [False]),
        # Each says a half: both are needed.
        (JudgedSentence(True, [False, False], [False, False]), [True, True]),
        # The second says nothing, and the first does without it.
        (JudgedSentence(True, [True, False], [None, True]), [True, False]),
        # One alone entails it and all together do not: none counts.
        (JudgedSentence(False, [True, False], [None, None]), [False, False]),
        (JudgedSentence(None, [True], [False]), [None]),
    ],
)
def test_a_citation_counts_where_it_is_not_irrelevant_and_its_sentence_is_entailed(
    sentence: JudgedSentence, precise: list[bool | None]
) -> None:
    assert sentence.precise == precise


def test_recall_is_over_sentences_and_precision_over_citations() -> None:
    found = [
        JudgedSentence(True, [True, False], [None, True]),
        JudgedSentence(False, [False], [False]),
        JudgedSentence(together=False),
        JudgedSentence(None, [None], [None]),
    ]
    assert recall(found) == pytest.approx(1 / 3)
    assert precision(found) == pytest.approx(1 / 3)


def test_without_sentences_or_citations_there_is_no_score() -> None:
    assert recall([]) is None
    assert precision([JudgedSentence(together=False)]) is None
