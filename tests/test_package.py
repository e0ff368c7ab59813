"""The Python interface: the same things as the command line, from `import localfact`."""

from collections import Counter
from importlib.metadata import version
from pathlib import Path

import pytest

import localfact
from localfact.api.sample import sample_corpus
from localfact.runs.progress import Silent
from localfact.vocabulary import Flag, VerdictLabel

NO_VECTORS = localfact.Options(embedder="none")


def test_every_public_name_is_there_and_no_other() -> None:
    for name in localfact.__all__:
        assert getattr(localfact, name) is not None
    assert dir(localfact) == sorted([*localfact.__all__, "__version__"])
    assert localfact.__version__ == version("localfact")
    with pytest.raises(AttributeError, match="no attribute 'evaluat'"):
        _ = localfact.evaluat


@pytest.mark.slow
def test_check_gives_a_verdict_per_claim_with_passages_and_places() -> None:
    text = "Marie Curie was born in Warsaw. What a city! She died in 1934."
    assessment = localfact.check(text, topic="Marie Curie", options=NO_VECTORS)
    assert [claim.text for claim in assessment.claims] == ["Marie Curie was born in Warsaw.", "Marie Curie died in 1934."]
    (first, second) = (text[claim.spans[0].start : claim.spans[0].end] for claim in assessment.claims)
    assert (first, second) == ("Marie Curie was born in Warsaw", "She died in 1934")
    assert len(assessment.verdicts) == 2
    assert assessment.verdicts[0].label is VerdictLabel.SUPPORTED
    assert {passage.id for passage in assessment.passages} >= {
        counted.passage_id for verdict in assessment.verdicts for counted in verdict.passages
    }


@pytest.mark.slow
def test_a_verdict_says_what_it_hangs_on_and_what_else_to_know_of_it() -> None:
    assessment = localfact.check("Marie Curie was born in Warsaw.", options=NO_VECTORS)
    (verdict,) = assessment.verdicts
    counted = verdict.passages[0]
    (text,) = (passage.text for passage in assessment.passages if passage.id == counted.passage_id)
    assert counted.sentence is not None
    assert counted.window is None  # word overlap reads all of a passage
    assert 0 <= counted.sentence.start < counted.sentence.end <= len(text)
    assert "Warsaw" in text[counted.sentence.start : counted.sentence.end]
    german = localfact.check("Der Eiffelturm steht in Berlin und ist 324 Meter hoch.", options=NO_VECTORS)
    assert [Flag.UNKNOWN_LANGUAGE in verdict.flags for verdict in german.verdicts] == [True]
    assert [verdict.label for verdict in german.verdicts] == [VerdictLabel.UNVERIFIABLE]  # it was not measured


@pytest.mark.slow
def test_check_counts_what_it_does_on_the_way() -> None:
    class Counting(Silent):
        begun: tuple[int, int] | None = None

        def __init__(self) -> None:
            self.counts: Counter[str] = Counter()

        def begin(self, rows: int, done: int) -> None:
            self.begun = (rows, done)

        def count(self, what: str, number: int) -> None:
            self.counts[what] += number

    progress = Counting()
    localfact.check("Marie Curie was born in Warsaw.", options=NO_VECTORS, progress=progress)
    assert (progress.begun, progress.counts["claims"], progress.counts["relations"] > 0) == ((1, 0), 1, True)


@pytest.mark.slow
def test_evaluate_returns_the_sums_that_it_writes(tmp_path: Path) -> None:
    summary = localfact.evaluate(options=NO_VECTORS, limit=2, out=tmp_path / "run")
    assert localfact.Summary.model_validate_json((tmp_path / "run/summary.json").read_text()) == summary
    assert summary.responses == 2
    assert sum(summary.verdicts.values()) == summary.claims


@pytest.mark.slow
def test_objects_are_evaluated_and_their_claims_are_rows(tmp_path: Path) -> None:
    given = {
        "id": "given",
        "response": "Ice floats on water.",
        "passages": [{"text": "Because it is less dense, ice floats on water."}],
    }
    run = tmp_path / "run"
    options = localfact.Options(corpus=sample_corpus())
    summary = localfact.evaluate([given, "Marie Curie was born in Warsaw."], options=options, out=run)
    assert summary.responses == 2
    rows = localfact.claim_rows(run)
    assert [(row["response"], row["text"]) for row in rows] == [
        ("given", "Ice floats on water."),
        ("row-2", "Marie Curie was born in Warsaw."),
    ]
    assert localfact.claim_rows(localfact.check(given, options=NO_VECTORS))[0]["sentence"] == given["passages"][0]["text"]


def test_what_cannot_be_used_is_a_localfact_error(tmp_path: Path) -> None:
    with pytest.raises(localfact.LocalFactError, match="no file"):
        localfact.evaluate(tmp_path / "none.jsonl")
    with pytest.raises(localfact.LocalFactError, match="words"):
        localfact.check("word " * 30_000)


def test_relate_keeps_rows_and_their_order() -> None:
    rows = [
        {"id": 1, "premise": "Bach died in Leipzig in 1750.", "hypothesis": "Bach died in 1750."},
        {"id": 2},
        {"id": 3, "premise": "Bach died in Leipzig in 1750.", "hypothesis": "Bach died in 1760."},
    ]
    related = localfact.relate(rows)
    assert [row["id"] for row in related] == [1, 2, 3]
    assert related[0]["entailment"] > related[2]["entailment"]
    assert "error_message" in related[1]
