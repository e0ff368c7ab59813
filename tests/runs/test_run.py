import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from roads import OnePassage, WordRelations, responses, small_pipeline

from localfact.errors import InputError, MissingError, RunFolderError
from localfact.pipeline import Pipeline
from localfact.records import Claim, Evidence, Response
from localfact.runs import assessments
from localfact.runs.assessments import ASSESSMENTS_FILE, is_failed, parse_assessment, read_assessment, read_assessments
from localfact.runs.journal import differences
from localfact.runs.progress import SILENT
from localfact.runs.run import run
from localfact.runs.run_folder import RunFolder, settings_name
from localfact.vocabulary import GoldLabel, VerdictLabel

SETTINGS = {"method": "small", "data": {"sha256": "0" * 64}}
TEXTS = ("this is true\nthis is not", "nothing", "", "true again", "also true\nbroken", "true", "x\ny\nz")


def folder_of(path: Path, **changes: object) -> RunFolder:
    return RunFolder(path, {**SETTINGS, **changes}, {"localfact": "1"})


async def finish(path: Path, texts: tuple[str, ...] = TEXTS, pipeline: Pipeline | None = None) -> bytes:
    with folder_of(path) as folder:
        await run(responses(*texts), pipeline or small_pipeline(), folder, SILENT)
        folder.complete({"method": "small"})
    return (path / ASSESSMENTS_FILE).read_bytes()


async def test_every_response_gets_one_line_in_input_order_and_every_claim_one_verdict(tmp_path: Path) -> None:
    await finish(tmp_path)
    assessments = read_assessments(tmp_path)
    assert [assessment.response_id for assessment in assessments] == [f"r{number}" for number in range(1, 8)]
    assert [assessment.status for assessment in assessments] == ["scored"] * 2 + ["abstained"] + ["scored"] * 4
    assert all(len(assessment.claims) == len(assessment.verdicts) for assessment in assessments)
    assert assessments[4].verdicts[1].label is VerdictLabel.FAILED
    assert sum(map(is_failed, assessments)) == 1


async def test_a_bug_in_one_response_is_its_own_failure(tmp_path: Path) -> None:
    await finish(tmp_path, ("true", "boom", "true"))
    assessments = read_assessments(tmp_path)
    assert [assessment.status for assessment in assessments] == ["scored", "failed", "scored"]
    assert assessments[1].error == "ZeroDivisionError: a bug"
    assert assessments[1].text == "boom"


async def test_a_row_with_a_problem_is_carried_through(tmp_path: Path) -> None:
    with folder_of(tmp_path) as folder:
        await run([Response(id="bad", text="", problem="no text")], small_pipeline(), folder, SILENT)
    (assessment,) = read_assessments(tmp_path)
    assert (assessment.status, assessment.error) == ("failed", "no text")


async def test_a_claim_whose_evidence_could_not_be_looked_for_fails_alone_and_is_tried_again(tmp_path: Path) -> None:
    class Unsearched(OnePassage):
        async def retrieve(self, response: Response, claims: Sequence[Claim]) -> Evidence:
            found = await super().retrieve(response, claims[1:])
            return found.model_copy(update={"failures": {claims[0].id: "nobody answered"}, "counts": {"searches": 1}})

    pipeline = replace(small_pipeline(), retriever=Unsearched())
    await finish(tmp_path, ("true one\ntrue two",), pipeline)
    (assessment,) = read_assessments(tmp_path)
    assert [verdict.label for verdict in assessment.verdicts] == [VerdictLabel.FAILED, VerdictLabel.SUPPORTED]
    assert assessment.verdicts[0].rationale == "nobody answered"
    assert assessment.counts["retrieve"]["searches"] == 1
    assert assessment.counts["relate"]["pairs"] == 1, "a claim without evidence is not related"
    assert is_failed(assessment)
    await finish(tmp_path, ("true one\ntrue two",))
    (assessment,) = read_assessments(tmp_path)
    assert not is_failed(assessment)


async def test_what_is_missing_stops_the_run_and_keeps_what_was_done(tmp_path: Path) -> None:
    class Nothing:
        async def retrieve(self, response: Response, claims: object) -> Evidence:
            if response.id == "r3":
                raise MissingError("no corpus")
            return await small_pipeline().retriever.retrieve(response, claims)

    road = small_pipeline()
    with folder_of(tmp_path) as folder, pytest.raises(MissingError, match="no corpus"):
        await run(
            responses("true", "true", "true"),
            Pipeline(road.extractor, Nothing(), road.relation_model, road.assessor),
            folder,
            SILENT,
        )
    assert {assessment.response_id for assessment in read_assessments(tmp_path)} <= {"r1", "r2"}


async def test_a_second_run_asks_nothing_again_but_what_failed(tmp_path: Path) -> None:
    first = await finish(tmp_path)
    road = small_pipeline()
    second = await finish(tmp_path, pipeline=road)
    assert second == first
    assert isinstance(road.relation_model, WordRelations)
    assert road.relation_model.asked == 2  # the response with the broken claim, both its claims


@given(keep=st.floats(0, 1))
async def test_a_file_cut_off_anywhere_is_continued_to_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, keep: float
) -> None:
    path = tmp_path_factory.mktemp("run")
    whole = await finish(path)
    (path / ASSESSMENTS_FILE).write_bytes(whole[: int(keep * len(whole))])
    assert await finish(path) == whole


async def test_other_settings_are_refused_with_the_difference(tmp_path: Path) -> None:
    await finish(tmp_path)
    with pytest.raises(RunFolderError, match="method: small -> large"):
        folder_of(tmp_path, method="large")
    forced = RunFolder(tmp_path, {**SETTINGS, "method": "large"}, {}, force=True)
    with forced:
        assert forced.done == {}


async def test_another_version_only_warns(tmp_path: Path) -> None:
    await finish(tmp_path)
    with RunFolder(tmp_path, SETTINGS, {"localfact": "2"}) as folder:
        assert folder.warnings == ["The run was begun with another version: localfact: 1 -> 2."]


def test_a_second_process_on_the_folder_is_refused(tmp_path: Path) -> None:
    with folder_of(tmp_path), pytest.raises(RunFolderError, match=f"pid {os.getpid()}"):
        folder_of(tmp_path)
    folder_of(tmp_path).__exit__(None, None, None)


def test_a_folder_of_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(RunFolderError, match="not a run folder"):
        RunFolder(tmp_path, SETTINGS, {}, force=True)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


async def test_gold_counts_travel_with_the_assessment(tmp_path: Path) -> None:
    claims = tuple(Claim(id=str(label), text="x", gold=label) for label in GoldLabel)
    with folder_of(tmp_path) as folder:
        await run([Response(id="r", text="true", claims=claims)], small_pipeline(), folder, SILENT)
    (assessment,) = read_assessments(tmp_path)
    assert (assessment.gold_supported, assessment.gold_not_supported) == (1, 1)


def test_the_settings_alone_name_the_folder() -> None:
    assert settings_name({"a": 1, "b": [2]}) == settings_name({"b": [2], "a": 1})
    assert settings_name({"a": 1}) != settings_name({"a": 2})


def test_differences_name_nested_settings_by_their_path() -> None:
    assert differences({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}, "d": 4}) == ["a.c: 2 -> 3", "d: None -> 4"]


async def test_what_a_kill_leaves_of_a_beginning_is_no_strangers_folder(tmp_path: Path) -> None:
    (tmp_path / ".lock").touch()
    (tmp_path / "run.yaml.new").write_text("settings: {meth")
    for force in (False, True):
        with RunFolder(tmp_path, SETTINGS, {}, force=force) as opened:
            assert opened.done == {}


async def test_assessments_without_their_settings_are_only_begun_again(tmp_path: Path) -> None:
    await finish(tmp_path)
    (tmp_path / "run.yaml").unlink()
    with pytest.raises(RunFolderError, match="--force"):
        folder_of(tmp_path)
    with RunFolder(tmp_path, SETTINGS, {}, force=True) as opened:
        assert opened.done == {}


async def test_a_whole_line_that_cannot_be_read_is_kept_and_named(tmp_path: Path) -> None:
    whole = await finish(tmp_path)
    foreign = whole.replace(b'"schema_version":1', b'"schema_version":2', 1)
    (tmp_path / ASSESSMENTS_FILE).write_bytes(foreign)
    with pytest.raises(InputError, match=r"line 1.*schema_version"):
        folder_of(tmp_path)
    with pytest.raises(InputError, match="line 1"):
        read_assessments(tmp_path)
    assert (tmp_path / ASSESSMENTS_FILE).read_bytes() == foreign


async def test_a_timing_cut_short_spoils_no_other(tmp_path: Path) -> None:
    await finish(tmp_path)
    timings = tmp_path / "timings.jsonl"
    timings.write_bytes(timings.read_bytes()[:-9])
    (tmp_path / ASSESSMENTS_FILE).write_bytes(b"")
    await finish(tmp_path)
    assert all(json.loads(line)["seconds"] for line in timings.read_text().splitlines())


@pytest.mark.parametrize(
    "name", [".lock", "assessments.jsonl", "assessments.jsonl.new", "summary.json.new", "relations.sqlite"]
)
def test_a_run_folder_with_a_link_in_it_is_not_written(tmp_path: Path, name: str) -> None:
    folder, victim = tmp_path / "run", tmp_path / "victim"
    with folder_of(folder):
        pass
    victim.write_text("precious")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(victim)
    for force in (False, True):
        with pytest.raises(InputError, match=f"{name} is a symbolic link to"):
            RunFolder(folder, SETTINGS, {"localfact": "1"}, force=force)
    assert victim.read_text() == "precious"


async def test_one_response_is_read_without_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await finish(tmp_path)
    parsed = []
    monkeypatch.setattr(
        assessments,
        "parse_assessment",
        lambda *given: parsed.append(given) or parse_assessment(*given),  # type: ignore[func-returns-value]
    )
    assert read_assessment(tmp_path, "r4") == read_assessments(tmp_path)[3]
    parsed.clear()
    read_assessment(tmp_path, "r4")
    assert len(parsed) == 1
    with pytest.raises(InputError, match=r"no response 'r9'\. It has r1, r2, r3, r4, r5, \.\.\."):
        read_assessment(tmp_path, "r9")
    with pytest.raises(MissingError, match="is not a run folder"):
        read_assessment(tmp_path / "none", "r1")
