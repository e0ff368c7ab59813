"""Several methods over one set of claims, with a scripted model that follows the gold labels, or not at a known rate."""

import json
import random
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from asked_models import shown

from localfact.api.compare_methods import COMMON_FILE, compare_methods, prepare_comparison
from localfact.errors import InputError, MissingError
from localfact.inputs.responses import read_responses
from localfact.llm.engine import Chat
from localfact.llm.scripted import ScriptedEngine
from localfact.methods import wiring
from localfact.methods.engine import EngineFacts, engine_facts
from localfact.methods.options import Options
from localfact.report.comparison import RunsCompared
from localfact.runs.progress import SILENT
from localfact.runs.run_folder import CALLS_FILE
from localfact.vocabulary import GoldLabel

BIOGRAPHIES = Path(__file__).resolve().parents[3] / "shared" / "data" / "factscore_bios" / "ChatGPT.jsonl"
OPTIONS = Options(model="scripted", embedder="none")
#: What vLLM would be started from.
SETTINGS = SimpleNamespace(identity=ScriptedEngine().identity)
TRUE, FALSE = GoldLabel.SUPPORTED.value, GoldLabel.NOT_SUPPORTED.value
#: How often the second method departs from the gold labels.
WRONG = 0.1


@contextmanager
def silently(step: str) -> Any:
    yield SILENT


def made(responses: int = 20, claims: int = 10) -> list[dict[str, Any]]:
    """Responses whose claims have labels drawn by lot, each with a passage."""
    chance = random.Random(4)
    return [
        {
            "id": f"r{number}",
            "prompt": f"Tell me of person {number}.",
            "response": f"Person {number} did much.",
            "claims": [
                {"id": f"c{at}", "text": f"Person {number} did thing {at}.", "label": chance.choice([TRUE, TRUE, FALSE])}
                for at in range(claims)
            ],
            "passages": [{"text": f"Of person {number} this is known."}],
        }
        for number in range(responses)
    ]


def biographies() -> list[dict[str, Any]]:
    """Twenty biographies whose facts people labelled, with a passage that says nothing; a text twice is asked once."""
    rows: list[dict[str, Any]] = []
    for response in read_responses(BIOGRAPHIES):
        judged = [claim for claim in response.claims or () if claim.gold in (GoldLabel.SUPPORTED, GoldLabel.NOT_SUPPORTED)]
        claims = {claim.text: claim for claim in judged}
        if response.problem is None and claims and len(rows) < 20:
            rows.append(
                {
                    "id": response.id,
                    "prompt": response.prompt,
                    "response": response.text,
                    "claims": [
                        {"text": text, "label": claim.gold.value, "passages": ["p"]}
                        for text, claim in claims.items()
                        if claim.gold
                    ],
                    "passages": [{"id": "p", "text": f"About {response.topic}."}],
                }
            )
    return rows


def labels_of(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], str]:
    """(passage, claim) -> its label."""
    return {(row["passages"][0]["text"], claim["text"]): claim["label"] for row in rows for claim in row["claims"]}


def scripted(rows: Sequence[Mapping[str, Any]]) -> ScriptedEngine:
    """A model that says True and False by gold, and that reasons its way to the wrong label one time in ten."""
    gold = labels_of(rows)
    wrong = {key for key in gold if random.Random(f"{key}").random() < WRONG}

    def supported(chat: Chat) -> bool:
        return gold[shown(chat, "evidence"), shown(chat, "claim")] == TRUE

    def answer(chat: Chat) -> str:
        right = (shown(chat, "evidence"), shown(chat, "claim")) not in wrong
        return "It follows. [Supported]" if supported(chat) == right else "It does not. [Contradicted]"

    def choose(chat: Chat, labels: Sequence[str]) -> Mapping[str, float]:
        return {"True": 0.97, "False": 0.02} if supported(chat) else {"True": 0.02, "False": 0.97}

    return ScriptedEngine(answer, choose)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scripted model is found as any other is."""

    def facts(options: Options, **_: object) -> EngineFacts:
        if options.replay is not None:
            return engine_facts(options)
        return EngineFacts(ScriptedEngine().identity, settings=cast("Any", SETTINGS))

    monkeypatch.setattr(wiring, "engine_facts", facts)


def compared(rows: Sequence[Mapping[str, Any]], folder: Path, engine: ScriptedEngine, **options: Any) -> RunsCompared:
    data = folder / "data.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    chosen = OPTIONS.model_copy(update=options)
    comparing = prepare_comparison(["factscore", "factverify"], data, options=chosen, out=folder / "compared")

    def start(settings: Any) -> ScriptedEngine:
        return engine

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ScriptedEngine, "aclose", _stay)
        return compare_methods(comparing, silently, start=cast("Any", start))


async def _stay(self: ScriptedEngine) -> None:
    """The owner ends it."""


HERE = pytest.mark.skipif(not BIOGRAPHIES.is_file(), reason="the data are not here")
SETS = {"made": made, "biographies": pytest.param(biographies, marks=HERE)}


@pytest.mark.slow
@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("rows_of", SETS.values(), ids=SETS)
def test_who_follows_gold_scores_as_gold_and_the_rate_of_errors_is_recovered(rows_of: Any, tmp_path: Path) -> None:
    rows = rows_of()
    claims = sum(len(row["claims"]) for row in rows)
    engine = scripted(rows)
    found = compared(rows, tmp_path, engine)
    scores = [{score.name: score.value for score in run.summary.scores} for run in found.runs]
    gold = [[claim["label"] == TRUE for claim in row["claims"]] for row in rows]
    assert scores[0]["Pr"] == pytest.approx(sum(sum(one) / len(one) for one in gold) / len(gold))
    assert scores[0]["MAE(Pr)"] == pytest.approx(0)
    assert scores[0]["F1(gold)"] == pytest.approx(1)
    right = next(one.comparison for one in found.comparisons if one.comparison.score == "claims right")
    assert right.n == found.claims_shared == claims
    assert right.found is not None
    assert right.found.first == 1
    assert right.found.ci is not None
    assert right.found.ci[0] <= WRONG <= right.found.ci[1]
    assert right.found.p_permutation is not None
    assert right.found.p_permutation < 0.01
    assert len(found.claims) == right.found.wins
    # One call a claim and method, none for what came with the responses.
    sent = [run.summary.accounting.calls_sent for run in found.runs if run.summary.accounting]
    assert sent == [claims, claims]
    assert len(engine.calls) == 2 * claims


@pytest.mark.slow
@pytest.mark.usefixtures("known")
def test_it_is_made_again_from_its_calls_without_a_model_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    rows = made(3, 4)
    (tmp_path / "first").mkdir()
    first = compared(rows, tmp_path / "first", scripted(rows))
    folder = tmp_path / "first" / "compared"
    lines = (folder / COMMON_FILE).read_text().splitlines()
    assert [len(json.loads(line)["claims"]) for line in lines] == [4, 4, 4]
    again = scripted(rows)
    assert compared(rows, tmp_path / "first", again) == first
    assert again.calls == []
    (tmp_path / "second").mkdir()
    replayed = compared(rows, tmp_path / "second", again, model=None, replay=folder / CALLS_FILE)
    assert replayed.comparisons == first.comparisons
    assert replayed.claims == first.claims
    assert again.calls == []


@pytest.mark.parametrize(
    ("methods", "options", "why"),
    [
        (["builtin-fr1"], {}, "two different methods"),
        (["builtin-fr1", "builtin-fr1"], {}, "two different methods"),
        (["builtin-fr1", "bultin-fr2"], {}, "Did you mean 'builtin-fr2'"),
        (["builtin-fr1", "factscore"], {}, "asks a language model"),
    ],
)
def test_what_cannot_be_run_is_told_before_anything_is(methods: list[str], options: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        prepare_comparison(methods, options=Options(embedder="none", **options))


@pytest.mark.slow
def test_methods_without_a_language_model_need_no_file(tmp_path: Path) -> None:
    options = Options(embedder="none", relations="lexical")
    comparing = prepare_comparison(["builtin-fr1", "builtin-fr2"], options=options, out=tmp_path / "out", limit=2)
    found = compare_methods(comparing, silently)
    assert [run.name for run in found.runs] == ["builtin-fr1", "builtin-fr2"]
    assert found.claims_shared > 20
    assert {run.summary.claims for run in found.runs} == {found.claims_shared}


def sure(chat: Chat, labels: Sequence[str]) -> Mapping[str, float]:
    """That everything is supported."""
    return {next((label for label in labels if label.casefold() in ("supported", "true")), labels[0]): 0.9999}


@pytest.mark.slow
@pytest.mark.usefixtures("known")
def test_what_a_method_finds_does_not_hang_on_which_is_named_first(tmp_path: Path) -> None:
    """FastFact's gate asks for the claims' labels itself, though another method's extractor may have labelled them."""
    rows = made(2, 3)
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = []
    for names in (["fastfact", "factscore"], ["factscore", "fastfact"]):
        engine = ScriptedEngine(lambda chat: "###supported###", sure)
        comparing = prepare_comparison(names, data, options=OPTIONS, out=tmp_path / names[0])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ScriptedEngine, "aclose", _stay)
            compared = compare_methods(comparing, silently, start=cast("Any", lambda settings, engine=engine: engine))
        found.append({run.name: (run.summary.verdicts, run.summary.usage["assess"]) for run in compared.runs})
    assert found[0] == found[1]
    assert found[0]["fastfact"][1]["settled_supported"] == 6


@pytest.mark.slow
def test_a_response_without_passages_fails_alone_and_none_at_all_is_told_first(tmp_path: Path) -> None:
    rows = made(2, 3)
    del rows[0]["passages"]
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = Options(embedder="none", relations="lexical")
    comparing = prepare_comparison(["builtin-fr1", "builtin-fr2"], data, options=options, out=tmp_path / "out")
    compared = compare_methods(comparing, silently)
    assert [run.summary.responses_failed for run in compared.runs] == [1, 1]
    assert compared.claims_shared == 3
    data.write_text(json.dumps(rows[0]) + "\n")
    with pytest.raises(MissingError, match="No evidence"):
        prepare_comparison(["builtin-fr1", "builtin-fr2"], data, options=options, out=tmp_path / "other")


def test_options_that_a_later_method_cannot_use_are_refused_before_anything_is_done(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nope"):
        prepare_comparison(["builtin-fr1", "builtin-fr2"], options=Options(embedder="none", relations="nope"))
    with pytest.raises(InputError, match="relations"):
        prepare_comparison(["builtin-fr1", "builtin-fr2"], options=Options(embedder="none", relations="llm"))
