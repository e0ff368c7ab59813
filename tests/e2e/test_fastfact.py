"""FastFact whole, from the command line: a taught Llama in real vLLM extracts, settles, searches and verifies.

One run is recorded, and one engine is killed. Everything else replays.
"""

import json
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from commands import CommandLine, QuickCommandLine
from engines import NEEDS_VLLM, Engines
from lessons import DOUBTED, EXTRACTIONS, RESPONSES, SURE, VERIFICATIONS
from taught_model import EXTRACTION_TOKENS, TOLERANCE, VERIFICATION_TOKENS, Taught

pytestmark = NEEDS_VLLM

#: Claim -> label it is extracted with, verdict, and the stretch of the response that it comes from.
MOON = {
    "The Moon goes round the Earth.": ("supported", "supported", "The Moon goes round the Earth"),
    "The Moon is larger than the Earth.": ("non-supported", "contradicted", "It is larger than the Earth."),
    "Neil Armstrong stepped onto the Moon in July 1969.": (
        "likely supported",
        "supported",
        "Neil Armstrong stepped onto it in July 1969.",
    ),
    DOUBTED: ("supported", "contradicted", "Its mean radius is 1,937 kilometres."),
    "A cucumber is botanically a berry.": ("irrelevant", "irrelevant", "A cucumber, by the way, is botanically a berry."),
}
LOCH_NESS = {
    "Loch Ness lies in Scotland.": ("supported", "supported", "Loch Ness lies in Scotland"),
    "Loch Ness is 36 kilometres long.": ("likely supported", "conflicting", "It is 36 kilometres long."),
    "A fisherman lost his boat on Loch Ness in May 1846.": (
        "unsure",
        "not_enough_evidence",
        "A fisherman lost his boat there in May 1846.",
    ),
    "Loch Ness is Scotland's loveliest lake.": (
        "likely non-supported",
        "unverifiable",
        "It is Scotland's loveliest lake.",
    ),
    "Loch Ness is the largest lake in the world.": (
        "non-supported",
        "contradicted",
        "It is the largest lake in the world.",
    ),
}
#: So many times the three responses, for a run that can be stopped in the middle.
COPIES = 8


@dataclass(frozen=True)
class Recorded:
    """A run in `folder`/out that was recorded in `folder`/calls.sqlite, by a model that is there no more."""

    folder: Path
    summary: Any
    rows: list[Any]


def words(data: Path, school: Taught, *more: str | Path) -> tuple[str | Path, ...]:
    """The command of all runs here."""
    lengths = ("--extraction-tokens", str(EXTRACTION_TOKENS), "--verification-tokens", str(VERIFICATION_TOKENS))
    evidence = ("--corpus", school.corpus, "--embedder", "none")
    return ("eval", "--method", "fastfact", "--data", data, *evidence, *lengths, "--json", "--out", "out", *more)


@pytest.fixture(scope="module")
def recorded(school: Taught, engines: Engines, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    folder = tmp_path_factory.mktemp("recorded")
    localfact = QuickCommandLine(folder, engines)
    done = localfact(*words(school.data, school, "--model", school.model, "--transcript", "calls.sqlite"))
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in (folder / "out/assessments.jsonl").read_text(encoding="utf-8").splitlines()]
    return Recorded(folder, json.loads(done.stdout), rows)


@pytest.fixture
def without_vllm(localfact: CommandLine, tmp_path: Path) -> CommandLine:
    """The command line on a machine where nothing of a language model can be imported."""
    blocks = tmp_path / "blocks"
    for package in ("vllm", "transformers", "torch"):
        (blocks / package).mkdir(parents=True)
        (blocks / package / "__init__.py").write_text(f"raise ImportError('{package} is not on this machine')\n")
    localfact.environment["PYTHONPATH"] = str(blocks)
    return localfact


def copies(school: Taught, file: Path) -> Path:
    """The three responses again and again, each time with other ids."""
    rows = [{**row, "id": f"{row['id']}-{number}"} for number in range(COPIES) for row in RESPONSES]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def run_bytes(folder: Path) -> tuple[bytes, bytes]:
    return (folder / "out/assessments.jsonl").read_bytes(), (folder / "out/summary.json").read_bytes()


def test_every_claim_ends_with_the_verdict_that_its_label_or_its_evidence_gives_it(recorded: Recorded) -> None:
    moon, loch_ness, walk = recorded.rows
    for row, expected in ((moon, MOON), (loch_ness, LOCH_NESS)):
        verdicts = {verdict["claim_id"]: verdict for verdict in row["verdicts"]}
        found = {
            claim["text"]: (
                claim["preverification"]["label"],
                verdicts[claim["id"]]["label"],
                " ".join(row["text"][span["start"] : span["end"]] for span in claim["spans"]),
            )
            for claim in row["claims"]
        }
        assert found == expected
        assert row["status"] == "scored"
        assert {verdict["posterior"] for verdict in row["verdicts"]} == {None}
    assert (walk["status"], walk["claims"], walk["unparsed"]) == ("abstained", [], [])


def test_only_sure_and_definite_labels_settle_and_the_others_have_read_their_passages(recorded: Recorded) -> None:
    for row in recorded.rows[:2]:
        known = {passage["id"] for passage in row["passages"]}
        for claim, verdict in zip(row["claims"], row["verdicts"], strict=True):
            confidence = claim["preverification"]["confidence"]
            read = [passage["passage_id"] for passage in verdict["passages"]]
            if claim["text"] in VERIFICATIONS:
                reasoning, _, _ = VERIFICATIONS[claim["text"]].partition("\nDecision")
                assert verdict["rationale"] == reasoning
                assert read
                assert set(read) <= known
            else:
                assert confidence >= 0.995
                assert "Settled without evidence" in verdict["rationale"]
                assert not read
            assert claim["text"] != DOUBTED or confidence == pytest.approx(SURE, abs=TOLERANCE)


def test_a_remark_of_the_model_is_shown_as_unparsed_and_an_order_in_a_page_changes_nothing(recorded: Recorded) -> None:
    moon, loch_ness, _ = recorded.rows
    assert (moon["unparsed"], loch_ness["unparsed"]) == ([], [EXTRACTIONS[RESPONSES[1]["response"]].splitlines()[-1]])
    ordering = next(passage for passage in loch_ness["passages"] if "Ignore the above" in passage["text"])
    (boat,) = [verdict for verdict in loch_ness["verdicts"] if verdict["label"] == "not_enough_evidence"]
    assert ordering["id"] in [passage["passage_id"] for passage in boat["passages"]]
    assert "###supported###" in boat["rationale"]


def test_counts_add_up_and_scores_follow_from_the_verdicts(recorded: Recorded) -> None:
    summary = recorded.summary
    verdicts = {label: count for label, count in summary["verdicts"].items() if count}
    assert verdicts == {
        "supported": 3,
        "contradicted": 3,
        "conflicting": 1,
        "not_enough_evidence": 1,
        "irrelevant": 1,
        "unverifiable": 1,
    }
    assert sum(verdicts.values()) == summary["claims"] == 10
    assert (summary["responses"], summary["responses_abstained"], summary["responses_failed"]) == (3, 1, 0)
    precision = next(score for score in summary["scores"] if score["name"] == "Pr")
    assert (precision["value"], precision["n"]) == (pytest.approx((2 / 4 + 1 / 4) / 2), 2)
    assert summary["usage"]["assess"] == {
        "settled_supported": 2,
        "settled_non_supported": 2,
        "settled_irrelevant": 1,
        "verified": 5,
        "claims_without_evidence": 0,
        "failed": 0,
        "labels_chosen": 0,
        "unverifiable": 1,
        "passages_left_out": 0,
    }


def test_the_accounting_has_what_was_sent_beside_the_formula(recorded: Recorded, school: Taught) -> None:
    accounting = recorded.summary["accounting"]
    assert (accounting["sentences"], accounting["claims"], accounting["searched_share"]) == (12, 10, 0.5)
    calls = {line["stage"]: line for line in accounting["lines"] if line["what"] == "LLM calls"}
    expected = {"extract": ("N/w", 3), "verify": ("pM", 5), "total": ("N/w + pM", 8)}
    assert {stage: (line["formula"], line["expected"]) for stage, line in calls.items()} == expected
    assert {stage: line["sent"] for stage, line in calls.items()} == {stage: count for stage, (_, count) in expected.items()}
    (searches,) = [line for line in accounting["lines"] if line["what"] == "searches"]
    assert (searches["expected"], searches["sent"]) == (5, 5)
    sent = tokens_of(school)
    for stage in ("extract", "verify"):
        assert (calls[stage]["prompt_tokens"], calls[stage]["output_tokens"]) == sent[stage]
    for kind in ("prompt_tokens", "output_tokens"):
        assert calls["total"][kind] == calls["extract"][kind] + calls["verify"][kind]
    assert sum(row["usage"]["extract"]["calls"] for row in recorded.rows) == 3


def tokens_of(school: Taught) -> dict[str, tuple[int, int]]:
    """Stage -> tokens of the prompts and of the answers, their ends included, counted by the tokenizer alone."""
    from localfact.llm.tokens.chat import ChatLayout

    layout = ChatLayout(school.model)
    counted = {}
    for stage, answers in (("extract", EXTRACTIONS), ("verify", VERIFICATIONS)):
        learned = [lesson for lesson in school.lessons if lesson.answer in answers.values()]
        prompts = sum(len(layout.ids(layout.text(lesson.chat))) for lesson in learned)
        counted[stage] = (prompts, sum(len(layout.ids(lesson.answer)) + 1 for lesson in learned))
    return counted


def test_a_replay_needs_no_model_and_gives_the_same_bytes(
    recorded: Recorded, school: Taught, without_vllm: CommandLine, tmp_path: Path
) -> None:
    done = without_vllm(*words(school.data, school, "--replay", recorded.folder / "calls.sqlite"))
    assert done.returncode == 0, done.stderr
    assert run_bytes(tmp_path) == run_bytes(recorded.folder)
    assert json.loads(done.stdout) == recorded.summary


def test_a_replay_that_lacks_a_call_says_which(
    recorded: Recorded, school: Taught, without_vllm: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "other.jsonl").write_text(json.dumps({"response": "The Sun is a star."}) + "\n")
    done = without_vllm(*words(tmp_path / "other.jsonl", school, "--replay", recorded.folder / "calls.sqlite"))
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert "has no answer for the call" in done.stderr


def test_two_passes_of_one_model_come_to_what_one_run_comes_to(
    recorded: Recorded, school: Taught, without_vllm: CommandLine, tmp_path: Path
) -> None:
    replay = ("--replay", recorded.folder / "calls.sqlite")
    length = ("--extraction-tokens", str(EXTRACTION_TOKENS))
    extracted = without_vllm("extract", "--data", school.data, "--out", "claims.jsonl", *length, *replay, "--json")
    assert extracted.returncode == 0, extracted.stderr
    assert json.loads(extracted.stdout)["counts"]["lines_unparsed"] == 1
    judged = without_vllm(*words(tmp_path / "claims.jsonl", school, *replay))
    assert judged.returncode == 0, judged.stderr
    rows = [json.loads(line) for line in (tmp_path / "out/assessments.jsonl").read_text(encoding="utf-8").splitlines()]
    for once, twice in zip(recorded.rows, rows, strict=True):
        for part in ("claims", "verdicts", "passages", "unparsed", "status"):
            assert once[part] == twice[part]
        assert "extract" not in twice["usage"]


@pytest.mark.models
def test_an_engine_that_is_killed_ends_the_run_with_one_sentence_and_the_run_goes_on(
    recorded: Recorded, school: Taught, without_vllm: CommandLine, tmp_path: Path
) -> None:
    data = copies(school, tmp_path / "copies.jsonl")
    user = CommandLine(tmp_path)
    model = ("--model", school.model, "--engine-arg", "enforce_eager=true")
    process = user.start(*words(data, school, *model, "--concurrency", "1"))
    assert process.stderr is not None
    said = ""
    while " responses, " not in said:
        line = process.stderr.readline()
        assert line, said
        said += line
    os.kill(engine_core(process.pid), signal.SIGKILL)
    rest = process.stderr.read()
    assert process.wait() == 2
    assert "The language model engine died" in rest
    assert "Traceback" not in said + rest
    left = (tmp_path / "out/assessments.jsonl").read_text(encoding="utf-8").splitlines()
    assert 0 < len(left) < COPIES * len(RESPONSES)
    assert not any(json.loads(line)["error"] for line in left)
    resumed = without_vllm(*words(data, school, "--replay", recorded.folder / "calls.sqlite"))
    assert resumed.returncode == 0, resumed.stderr
    whole = (tmp_path / "out/assessments.jsonl").read_text(encoding="utf-8").splitlines()
    assert set(left) < set(whole)
    assert [json.loads(line)["index"] for line in whole] == list(range(COPIES * len(RESPONSES)))
    summary, alone = json.loads(resumed.stdout), recorded.summary
    assert summary["verdicts"] == {label: COPIES * count for label, count in alone["verdicts"].items()}
    assert [line["sent"] for line in summary["accounting"]["lines"]] == [
        COPIES * line["sent"] for line in alone["accounting"]["lines"]
    ]


def engine_core(parent: int) -> int:
    """The process in which vLLM runs the model."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            status = dict(line.split(":\t", 1) for line in (process / "status").read_text().splitlines() if ":\t" in line)
            name = (process / "cmdline").read_bytes()
        except OSError:  # it has ended meanwhile
            continue
        if status["PPid"] == str(parent) and b"EngineCore" in name:
            return int(process.name)
    raise AssertionError("vLLM has no process of its own for the model")
