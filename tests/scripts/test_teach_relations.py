"""A student is taught: what it learns from, that it learns, what is written of it, and by which figures it would ship."""

import asyncio
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from localfact.records import Distribution, Pair
from scripts.teaching.decision import compare, of_minimal_pairs
from scripts.teaching.exchanges import edited_claim, edited_passage
from scripts.teaching.pairs import Lesson

PASSAGE = "The bridge of Lervika was opened in 1931 by Marit Aas. The harbour of Stonnes was closed in 1968 by Olav Brekke."
CLAIM = "The bridge of Lervika was opened in 1931."
#: What a teacher may say: the logarithms of entailment, contradiction, neutral.
YES, NO = (-0.05, -4.0, -4.0), (-4.0, -0.05, -4.0)


def lessons() -> list[Lesson]:
    claims = ("It was built of granite.", "Nobody knows the town.")
    pairs = [Pair(f"The mill of Vik was built in {year}.", claim) for year in range(1901, 1906) for claim in claims]
    return [Lesson("judged", "own", pair.premise, pair) for pair in pairs]


def test_what_is_exchanged_comes_from_the_passage() -> None:
    claim = edited_claim(CLAIM, PASSAGE, random.Random(1))
    assert claim in (CLAIM.replace("1931", "1968"), CLAIM.replace("Lervika", "Stonnes"))
    passage = edited_passage("It was opened in 1931.", PASSAGE, random.Random(1))
    assert passage == PASSAGE.replace("1931", "YEAR").replace("1968", "1931").replace("YEAR", "1968")
    assert edited_claim("It is a bridge.", PASSAGE, random.Random(1)) is None


def test_silence_is_not_right_about_minimal_pairs() -> None:
    sides = {"true": [Pair("p", "t")], "false": [Pair("p", "f")]}
    entailed, denied = (Distribution(entailment=high, contradiction=1 - high, neutral=0) for high in (0.9, 0.1))
    silent = Distribution(entailment=0, contradiction=0, neutral=1)
    knows = of_minimal_pairs(sides, {Pair("p", "t"): entailed, Pair("p", "f"): denied})
    says_nothing = of_minimal_pairs(sides, {Pair("p", "t"): silent, Pair("p", "f"): silent})
    assert compare("minimal pairs", knows, says_nothing, 1, must_be_better=True)[1:3] == ["1.000", "0.000"]
    assert compare("minimal pairs", knows, says_nothing, 1, must_be_better=True)[-1] == "yes"
    assert compare("the same", knows, knows, 1, must_be_better=True)[-1] == "no"


@pytest.mark.slow  # it waits for torch
def test_a_student_learns_and_is_read_as_it_was_taught(tmp_path: Path) -> None:
    from tiny_models import tiny_bert

    from localfact.models.onnx import OnnxModel, OnnxTokenizer
    from scripts.onnx_export import export
    from scripts.teaching import student
    from scripts.teaching.decision import student_card
    from scripts.teaching.reading import StudentRelations, read_pair

    base, taught = tiny_bert(tmp_path / "base"), lessons()
    tokenizer = OnnxTokenizer(base)
    labels = {one.key: (YES, NO)[place % 2] for place, one in enumerate(taught)}
    items = student.items_of(taught, labels, tokenizer)
    first: Any = student.new_student(base)
    stage = student.Stage("windows", items, 30, 1e-2)
    before = student.measure(student.logits_of(first, items), items)
    student.train(first, stage, tmp_path)
    logits = student.logits_of(first, items)
    after = student.measure(logits, items)
    assert after[0] < before[0]
    assert after[1] == 1

    again: Any = student.new_student(base)
    student.train(again, stage, tmp_path)  # done: it is only read
    assert np.array_equal(student.logits_of(again, items), logits)

    export(first, base, tmp_path / "shipped")
    outputs = OnnxModel(tmp_path / "shipped").outputs(read_pair(tokenizer, taught[0].pair).fields)
    model = StudentRelations(student_card(tmp_path / "shipped"))
    (said,) = asyncio.run(model.relate([taught[0].pair]))
    model.close()
    assert isinstance(said, Distribution)
    odds = said.entailment / said.contradiction
    assert odds == pytest.approx(np.exp(outputs[0] - outputs[1]), rel=1e-6)
