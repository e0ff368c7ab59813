"""Checks at once against a service, a few instead of two hundred: each is answered as it is alone."""

import pytest

from scripts.bench.service import Answer, differing, made_texts, tables


def test_texts_differ_and_a_lost_or_exchanged_answer_is_counted() -> None:
    assert len(set(made_texts(200))) == 200
    one, other = Answer({"text": "a"}, 0.1), Answer({"text": "b"}, 0.1)
    assert differing([one, other, Answer(None, 9.0)], [one, one, one]) == 2


@pytest.mark.slow
def test_every_check_is_answered() -> None:
    ((_, table),) = tables(0.04)
    figures = dict(zip(*(list(column.cells) for column in table.columns), strict=True))
    assert (figures["not answered"], figures["answered otherwise than alone"]) == ("0", "0")
