"""Table 10's rows as they are run: one language model for all, started only to be asked, and the same claims for every row."""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path

import pytest

from localfact.api.sample import sample_corpus
from localfact.errors import EngineError
from localfact.llm.calls import ChooseCall
from localfact.llm.engine import Choice
from localfact.llm.placing.settings import EngineSettings
from localfact.llm.scripted import ScriptedEngine
from localfact.methods.options import Options
from localfact.papers.table10 import Row, RowJob, options_for, row_jobs, run_rows
from localfact.runs.assessments import read_assessments
from localfact.runs.progress import SILENT, Progress
from localfact.runs.run_folder import CALLS_FILE, RELATIONS_FILE

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "dtype": "float32",
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "vocab_size": 10,
    "max_position_embeddings": 32_768,
}
BIOGRAPHY = {
    "input": "Who was Ada?",
    "output": "Ada wrote programs. Ada was born in Paris.",
    "topic": "Ada",
    "atoms": [
        {"id": "a0", "text": "Ada wrote programs.", "label": "S", "contexts": ["c0"]},
        {"id": "a1", "text": "Ada was born in Paris.", "label": "NS", "contexts": ["c1"]},
    ],
    "contexts": [
        {"id": "c0", "title": "Ada", "text": "Ada wrote the first programs."},
        {"id": "c1", "title": "Ada", "text": "Ada was born in London."},
    ],
}


class Fickle(ScriptedEngine):
    """Extracts another claim whenever it is asked to, as an engine that batches differently might."""

    def __init__(self, settings: EngineSettings, number: Iterator[int]) -> None:
        super().__init__(lambda chat: f"[1] Marie Curie found the number {next(number)}.")
        self.identity = settings.identity
        self.chosen = 0
        self.ended = 0

    async def answer_choose(self, call: ChooseCall) -> Choice:
        self.chosen += 1
        return await super().answer_choose(call)

    async def aclose(self) -> None:
        self.ended += 1


class Starts:
    """Starts such engines, and remembers them."""

    def __init__(self) -> None:
        self.engines: list[Fickle] = []
        self._number = count()

    def __call__(self, settings: EngineSettings) -> Fickle:
        self.engines.append(Fickle(settings, self._number))
        return self.engines[-1]


def refuses(settings: EngineSettings) -> ScriptedEngine:
    raise EngineError("nothing may be started here")


@contextmanager
def unwatched(row: str) -> Iterator[Progress]:
    yield SILENT


@pytest.fixture
def options(tmp_path: Path) -> Options:
    """Options with a language model whose weights nobody loads."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "model.safetensors").write_text("w")
    return Options(model=str(folder), embedder="none", tables="paper")


@pytest.fixture
def given(tmp_path: Path) -> Path:
    """A biography with claims and passages of its own."""
    file = tmp_path / "given.jsonl"
    file.write_text(json.dumps(BIOGRAPHY) + "\n")
    return file


@pytest.fixture
def unsplit(tmp_path: Path) -> Path:
    """A response without claims, for which the sample's corpus has passages."""
    file = tmp_path / "unsplit.jsonl"
    row = {"id": "curie", "topic": "Marie Curie", "prompt": "Who?", "response": "Marie Curie was born in Warsaw."}
    file.write_text(json.dumps(row) + "\n")
    return file


def jobs_of(data: Path, options: Options, out: Path, *relations: str) -> list[RowJob]:
    options = options.model_copy(update={"corpus": sample_corpus()})
    return row_jobs(data, relations=relations, options=options, out=out, limit=1)


def run_first(jobs: Sequence[RowJob], starts: Starts) -> Row:
    """The first row alone, as if the command was killed behind it."""
    with closing(run_rows(jobs, unwatched, start=starts)) as rows:  # type: ignore[type-var]
        return next(rows)


def claims_of(job: RowJob) -> list[list[str]]:
    return [[claim.text for claim in assessment.claims] for assessment in read_assessments(job.job.out)]


def test_given_claims_are_related_by_an_engine_that_starts_once_and_nothing_else_is_recorded(
    tmp_path: Path, options: Options, given: Path
) -> None:
    starts, out = Starts(), tmp_path / "out"
    asked = []
    for row in run_rows(jobs_of(given, options, out, "llm"), unwatched, start=starts):
        asked.append(starts.engines[0].chosen)
        assert not row.summary.responses_failed
    assert len(starts.engines) == 1
    assert 0 < asked[0] < asked[1] < asked[2]  # no pair of FR1 is asked again for FR2, and none of these for FR3
    assert starts.engines[0].ended == 1
    assert not list(out.rglob(f"{CALLS_FILE}*"))


def test_rows_whose_pairs_were_all_kept_start_no_engine(tmp_path: Path, options: Options, given: Path) -> None:
    jobs = jobs_of(given, options, tmp_path / "out", "llm")
    list(run_rows(jobs, unwatched, start=Starts()))
    for job in jobs[:2]:
        shutil.rmtree(job.job.out)
    rows = list(run_rows(jobs, unwatched, start=refuses))
    assert [row.run.version for row in rows] == [1, 2, 3]
    assert all(not row.summary.responses_failed and not row.summary.verdicts["failed"] for row in rows)


def test_rows_whose_pairs_were_lost_ask_an_engine_again(tmp_path: Path, options: Options, given: Path) -> None:
    jobs = jobs_of(given, options, tmp_path / "out", "llm")
    run_first(jobs, Starts())
    (tmp_path / "out" / RELATIONS_FILE).unlink()
    starts = Starts()
    assert len(list(run_rows(jobs, unwatched, start=starts))) == 3
    assert len(starts.engines) == 1
    assert starts.engines[0].chosen > 0


def test_an_engine_that_cannot_start_is_said_before_a_folder_is_made(tmp_path: Path, options: Options, given: Path) -> None:
    with pytest.raises(EngineError, match="nothing may be started"):
        list(run_rows(jobs_of(given, options, tmp_path / "out", "llm"), unwatched, start=refuses))
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_extracted_claims_are_the_same_in_every_row_of_every_relation_model(
    tmp_path: Path, options: Options, unsplit: Path
) -> None:
    starts, out = Starts(), tmp_path / "out"
    jobs = jobs_of(unsplit, options, out, "lexical", "llm")
    assert len(list(run_rows(jobs, unwatched, start=starts))) == 6
    assert claims_of(jobs[0]) == [["Marie Curie found the number 0."]]
    assert all(claims_of(job) == claims_of(jobs[0]) for job in jobs)
    assert len(starts.engines) == 1
    assert [file.parent for file in out.rglob(CALLS_FILE)] == [out]


@pytest.mark.slow
def test_given_claims_are_revised_once_for_all_rows_and_shown_to_a_prompt_of_ones_own(
    tmp_path: Path, options: Options, given: Path
) -> None:
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    (prompts / "revision.jinja").write_text("{{ text }} / {{ claim }}", encoding="utf-8")
    starts = Starts()
    jobs = jobs_of(
        given, options.model_copy(update={"revise": "given", "prompts": prompts}), tmp_path / "out", "lexical", "llm"
    )
    assert len(list(run_rows(jobs, unwatched, start=starts))) == 6
    claims = [read_assessments(job.job.out)[0].claims for job in jobs]
    assert all(one == claims[0] for one in claims)
    revisions = [chat[0].content for chat in starts.engines[0].calls if " / " in chat[0].content]
    assert len(revisions) == len(claims[0])


@pytest.mark.slow
def test_extracted_claims_are_the_same_when_each_row_is_a_command_of_its_own(
    tmp_path: Path, options: Options, unsplit: Path
) -> None:
    jobs = jobs_of(unsplit, options, tmp_path / "out", "lexical", "llm")
    starts = Starts()
    for job in (jobs[2], jobs[5]):
        run_first([job], starts)
    assert claims_of(jobs[2]) == claims_of(jobs[5])
    list(run_rows(jobs, unwatched, start=refuses))
    assert all(claims_of(job) == claims_of(jobs[0]) for job in jobs)


@pytest.mark.slow
def test_without_the_transcript_claims_are_extracted_again(tmp_path: Path, options: Options, unsplit: Path) -> None:
    jobs = jobs_of(unsplit, options, tmp_path / "out", "lexical")
    run_first(jobs, Starts())
    (tmp_path / "out" / CALLS_FILE).unlink()
    starts = Starts()
    assert [row.summary.responses_failed for row in run_rows(jobs, unwatched, start=starts)] == [0, 0, 0]
    assert len(starts.engines) == 1


def test_the_engine_ends_when_a_row_stops(tmp_path: Path, options: Options, given: Path) -> None:
    starts = Starts()
    jobs = jobs_of(given, options, tmp_path / "out", "llm")
    jobs[1].job.out.mkdir(parents=True)
    (jobs[1].job.out / "notes.txt").write_text("not a run")
    done = []
    with pytest.raises(Exception, match="not a run folder"):
        done.extend(run_rows(jobs, unwatched, start=starts))
    assert [row.run.version for row in done] == [1]
    assert starts.engines[0].ended == 1


@pytest.mark.slow
def test_all_rows_can_be_answered_from_a_transcript_without_weights(tmp_path: Path, options: Options, unsplit: Path) -> None:
    first = jobs_of(unsplit, options, tmp_path / "out", "llm")
    rows = list(run_rows(first, unwatched, start=Starts()))
    calls = tmp_path / "out" / CALLS_FILE
    replayed = Options(replay=calls, embedder="none", tables="paper")
    again = list(run_rows(jobs_of(unsplit, replayed, tmp_path / "again", "llm"), unwatched, start=refuses))
    assert [row.scores for row in again] == [row.scores for row in rows]


@pytest.mark.parametrize(
    ("name", "extracts", "model", "transcript"),
    [
        ("llm", False, True, None),
        ("llm", True, True, Path("out") / CALLS_FILE),
        ("lexical", True, True, Path("out") / CALLS_FILE),
        ("lexical", False, False, None),
    ],
)
def test_calls_are_recorded_only_where_claims_are_extracted(
    name: str, extracts: bool, model: bool, transcript: Path | None
) -> None:
    chosen = options_for(name, Options(model="any", engine_args={"seed": "1"}), Path("out"), extracts=extracts)
    assert (chosen.names_model, bool(chosen.engine_args), chosen.transcript) == (model, model, transcript)


@pytest.mark.parametrize("extracts", [True, False])
def test_a_transcript_that_was_named_is_the_one(extracts: bool) -> None:
    named = Options(model="any", transcript=Path("mine.sqlite"))
    assert options_for("llm", named, Path("out"), extracts=extracts).transcript == Path("mine.sqlite")
    replayed = options_for("llm", Options(replay=Path("mine.sqlite")), Path("out"), extracts=extracts)
    assert (replayed.replay, replayed.transcript) == (Path("mine.sqlite"), None)
