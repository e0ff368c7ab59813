import asyncio
import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from localfact.errors import EngineError, InputError
from localfact.methods.relations import FoundRelationModel
from localfact.models.embedder import Embedder
from localfact.records import Distribution, Failure, Pair
from localfact.relations.lexical.model import LexicalRelationModel
from scripts.training import evaluate as script
from scripts.training.relation_model import asking, written_sets
from scripts.training.relation_model.asking import Model, asked
from scripts.training.relation_model.evaluated_sets import evaluated_sets, held_out_sets
from scripts.training.relation_model.examples import CONTRADICTION, ENTAILMENT, NEUTRAL, Example
from scripts.training.relation_model.figure_tables import markdown, print_tables
from scripts.training.relation_model.figures import Evaluation, evaluation

E, C, N = ENTAILMENT, CONTRADICTION, NEUTRAL
Said = Distribution | Failure


def says(label: str, probability: float = 0.8) -> Distribution:
    rest = (1 - probability) / 2
    return Distribution.model_validate({E: rest, C: rest, N: rest} | {label: probability})


def example(name: str, label: str, topic: str) -> Example:
    return Example(name, "pair", f"A passage about {topic}.", f"A claim: {label} {topic}.", label, (topic,))


def write(file: Path, content: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(content.encode()) if file.suffix == ".gz" else content.encode())


def write_lines(file: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    write(file, "".join(json.dumps(row) + "\n" for row in rows))


class Fixed:
    """A relation model that always says the same of a pair, remembers what it was asked, and can break down."""

    def __init__(self, said: Callable[[Pair], Said], breaks_at: str | None = None) -> None:
        self.identity = "fixed@1"
        self.asked: list[Pair] = []
        self._said, self._breaks_at = said, breaks_at

    async def relate(self, pairs: Sequence[Pair]) -> Sequence[Said]:
        if any(pair.hypothesis == self._breaks_at for pair in pairs):
            raise EngineError("The machine has stopped.")
        self.asked += pairs
        return [self._said(pair) for pair in pairs]


def offered(monkeypatch: pytest.MonkeyPatch, models: Mapping[str, Any]) -> None:
    def find(options: Any) -> FoundRelationModel:
        if options.relations not in models:
            raise InputError(f"There is no {options.relations}.")
        model = models[options.relations]
        return FoundRelationModel(model.identity, lambda opened: model)

    monkeypatch.setattr(asking, "find_relation_model", find)
    monkeypatch.setattr(asking, "megabytes", lambda _: 1.5)


PAIRS = [Pair("A passage.", f"Claim {place}.") for place in range(6)]


def silent(_done: int, _total: int) -> None: ...


def test_a_model_is_asked_once_and_not_even_opened_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Fixed(lambda _: says(E))
    offered(monkeypatch, {"fixed": model})
    first = asked("fixed", PAIRS, tmp_path, silent)
    model.asked.clear()
    assert asked("fixed", PAIRS, tmp_path, silent) == first
    assert first.said == dict.fromkeys(PAIRS, says(E))
    assert model.asked == []


def test_what_was_answered_before_a_breakdown_is_not_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "BATCH", 2)
    monkeypatch.setattr(asking, "TIMED_PAIRS", 0)
    offered(monkeypatch, {"fixed": Fixed(lambda _: says(E), breaks_at="Claim 4.")})
    with pytest.raises(EngineError):
        asked("fixed", PAIRS, tmp_path, silent)
    whole = Fixed(lambda _: says(C))
    offered(monkeypatch, {"fixed": whole})
    monkeypatch.setattr(asking, "TIMED_PAIRS", 1)
    found = asked("fixed", PAIRS, tmp_path, silent)
    assert set(whole.asked) >= set(PAIRS[4:])
    assert [found.said[pair] for pair in PAIRS] == [says(E)] * 4 + [says(C)] * 2


def test_a_failure_is_asked_again_by_the_next_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offered(monkeypatch, {"fixed": Fixed(lambda _: Failure(reason="too long"))})
    assert asked("fixed", PAIRS[:1], tmp_path, silent).said == {PAIRS[0]: Failure(reason="too long")}
    offered(monkeypatch, {"fixed": Fixed(lambda _: says(N))})
    assert asked("fixed", PAIRS[:1], tmp_path, silent).said == {PAIRS[0]: says(N)}


def test_a_model_is_timed_again_only_when_that_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Fixed(lambda _: says(E))
    offered(monkeypatch, {"fixed": model})
    asked("fixed", PAIRS, tmp_path, silent)
    model.asked.clear()
    asked("fixed", PAIRS, tmp_path, silent, time_again=True)
    assert set(model.asked) >= set(PAIRS)


def test_progress_says_how_many_of_the_pairs_are_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "BATCH", 4)
    offered(monkeypatch, {"fixed": Fixed(lambda _: says(E))})
    told: list[tuple[int, int]] = []
    asked("fixed", [*PAIRS, *PAIRS], tmp_path, lambda done, total: told.append((done, total)))
    assert told == [(4, 6), (6, 6)]


def test_word_overlap_has_the_size_of_its_own_files_and_a_model_that_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"0" * 2_500_000)
    (tmp_path / "below").mkdir()
    (tmp_path / "below/vocabulary.txt").write_bytes(b"0" * 1_000_000)
    assert asking.megabytes(str(tmp_path)) == 3.5
    assert 0 < asking.megabytes("lexical") < 1


def small_evaluation(better: Callable[[Example], Said]) -> Evaluation:
    """Word overlap always says entailment; the other model what `better` says. SNLI alone is large enough for calibration."""
    examples = [example("snli", (E, C, N)[place % 3], f"topic {place:03}") for place in range(303)]
    examples += [example("mnli", (E, C)[place % 2], f"other topic {place}") for place in range(10)]
    sets = evaluated_sets(examples)
    said = {Pair(one.premise, one.hypothesis): better(one) for one in examples}
    models = [
        Model("lexical", "lexical@1", 0.1, 1000.0, dict.fromkeys(said, says(E, 0.5))),
        Model("taught", "taught@1", 25.0, 80.0, said),
    ]
    return evaluation("data", None, models, sets, [], 0)


def test_every_figure_stands_beside_that_of_word_overlap_and_its_target() -> None:
    found = small_evaluation(lambda one: says(one.label, 1.0))
    lexical, taught = (model.held_out[1] for model in found.models)
    assert (lexical.set, lexical.pairs, lexical.topics) == ("snli", 303, 303)
    assert (lexical.figure.value, lexical.met, taught.figure.value, taught.met) == (pytest.approx(1 / 3), False, 1.0, True)
    assert lexical.over_lexical is None
    assert taught.over_lexical is not None
    assert taught.over_lexical.value == pytest.approx(2 / 3)
    assert taught.over_lexical.interval is not None
    assert taught.over_lexical.interval[0] > 0.55
    assert lexical.gold == {E: 101, C: 101, N: 101}
    assert lexical.said == {E: 303, C: 0, N: 0}


def test_calibration_is_told_of_sets_of_more_than_300_pairs_only() -> None:
    found = small_evaluation(lambda one: says(one.label, 0.7))
    mnli, snli = found.models[1].held_out
    assert mnli.calibration is None
    assert snli.calibration is not None
    assert (snli.calibration.value, snli.calibration_met) == (pytest.approx(0.3), False)
    assert snli.calibration_over_lexical is not None
    assert snli.calibration_over_lexical.value == pytest.approx(0.3 - (0.5 - 1 / 3))


def test_the_table_has_a_row_a_model_and_marks_the_targets_that_are_met(capsys: pytest.CaptureFixture[str]) -> None:
    found = small_evaluation(lambda one: says(one.label, 1.0))
    print_tables(found, Console(width=80, highlight=False))
    text = capsys.readouterr().out
    rows = {line.split()[0]: line for line in text.splitlines() if line.split()[:1] in (["lexical"], ["taught"])}
    assert "0.500 ✗" in rows["lexical"]
    assert "0.333 ✗" in rows["lexical"]
    assert rows["taught"].count("1.000 ✓") == 2
    assert "80.0" in rows["taught"]
    assert "target 0.78" in text


def test_a_narrow_terminal_gets_the_columns_in_blocks_and_none_is_lost(capsys: pytest.CaptureFixture[str]) -> None:
    print_tables(small_evaluation(lambda one: says(one.label)), Console(width=55, force_terminal=True, color_system=None))
    text = capsys.readouterr().out
    blocks = text[: text.index("Intervals:")]
    assert "continued" in blocks
    assert max(map(len, blocks.splitlines())) <= 55
    for heading in ("MultiNLI", "SNLI", "MB"):
        assert heading in blocks


def test_the_markdown_has_a_row_a_set_with_figure_interval_and_difference() -> None:
    text = markdown(small_evaluation(lambda one: says(one.label, 1.0)))
    (row,) = [line for line in text.splitlines() if line.startswith("| SNLI | accuracy")]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[:5] == ["SNLI", "accuracy", "0.78", "303", "303"]
    assert cells[5].startswith("0.333 [0.2")
    assert cells[6] == "1.000 [1.000, 1.000] ✓"
    assert cells[7].startswith("+0.667 [0.6")


SENTENCES = (
    ("The harbour of Velm{0} was finished in 18{0:02}.", "Velm{0} has a harbour.", E),
    ("The harbour of Velm{0} was finished in 18{0:02}.", "The harbour of Velm{0} was finished in 17{0:02}.", C),
    ("The harbour of Velm{0} was finished in 18{0:02}.", "Ferries to Velm{0} are painted green.", N),
)
EMPTY = (
    *("nli/mnli_dev.jsonl", "factcheck_gpt/factcheck-GPT-benchmark.jsonl.gz"),
    *("factcheck_gpt/subtask3_claim_evidence_stance.jsonl", "expertqa/expertqa_answers.jsonl.gz"),
    *(f"wice/{part}.jsonl.gz" for part in ("claim_dev", "claim_test", "non_supported_tokens")),
    *("conflict_nq/conflict_nq_val.jsonl", "conflict_nq/conflict_nq_test.jsonl"),
    "wikicontradict/wiki_contradict_refined.jsonl",
    *("fact_verification/fever_symmetric_dev.jsonl", "fact_verification/fever_symmetric_test.jsonl"),
    "factcg/cg2c_doc.jsonl",
    *("nli/cad_train.tsv", "nli/cad_dev.tsv", "nli/cad_test.tsv", "nli/conjnli_dev.tsv"),
)
FACTOR_HEAD = "full_prefix,completion,contradiction_0,contradiction_1,contradiction_2\n"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of data sets: 40 topics of SNLI's form, two questions of FACTOR's, some pairs of SciTail's; the rest empty."""
    folder = tmp_path / "data"
    monkeypatch.setattr(written_sets, "FOLDER", folder / "written")
    for name in EMPTY:
        write(folder / name, "")
    write(folder / "nli/taxinli10k.tsv", "label\tprem\thyp\n")
    rows = [
        {"premise": premise.format(place), "hypothesis": hypothesis.format(place), "label": label}
        for place in range(40)
        for premise, hypothesis, label in SENTENCES
    ]
    write_lines(folder / "nli/snli_dev.jsonl", rows)
    questions = [
        f"Question: What is tower {place}? Answer: It is old.,Tower {place} is {place}5 metres tall.,"
        f"Tower {place} is {place}6 metres tall.,Tower {place} is {place}7 feet tall.,Tower {place} fell down.\n"
        for place in range(1, 4)
    ]
    write(folder / "factor/expert_factor.csv", FACTOR_HEAD + "".join(questions))
    write(folder / "factor/news_factor.csv.gz", FACTOR_HEAD)
    write_lines(folder / "nli/scitail_test.jsonl", [{"premise": "Iron rusts.", "hypothesis": "Iron rusts.", "label": E}])
    for name in ("wikipedia", "google"):
        write(folder / f"flaherty/flaherty_{name}.json", json.dumps({"output": "", "contexts": []}))
    return folder


def test_word_overlap_is_measured_on_the_topics_that_are_held_out(
    data: Path, tmp_path: Path, minilm: Embedder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [str(data), "--cache", str(tmp_path / "cache"), "--json", str(tmp_path / "out/figures.json")]
    script.main([*arguments, "--figures", str(tmp_path / "figures")])
    assert "FACTOR expert" in capsys.readouterr().out
    document = json.loads((tmp_path / "out/figures.json").read_text(encoding="utf-8"))
    lexical = document["models"][0]
    found = {one["set"]: one for one in lexical["held_out"]}

    chosen = {one.name: one for one in held_out_sets(data)}
    pairs = [Pair(each.premise, each.hypothesis) for each in chosen["snli"].examples]
    said = asyncio.run(LexicalRelationModel(minilm).relate(pairs))
    right = [one.label == each.label for one, each in zip(said, chosen["snli"].examples, strict=True)]
    assert 0 < len(pairs) < 120
    assert found["snli"]["figure"]["value"] == pytest.approx(sum(right) / len(right))
    assert (found["factor_expert"]["pairs"], found["factor_expert"]["measure"]) == (12, "area under the curve")
    assert [one["set"] for one in lexical["never_trained_on"]] == ["scitail"]
    names = ("relation-reliability", "relation-roc", "relation-roc-entailment")
    assert {file.name for file in (tmp_path / "figures").iterdir()} == {f"{n}.{s}" for n in names for s in ("svg", "png")}

    def refuse(_: Any) -> Any:
        raise AssertionError("opened again")

    monkeypatch.setattr("localfact.methods.relations.LexicalRelationModel", refuse)
    script.main([*arguments, "--markdown"])
    assert "| SNLI | accuracy | 0.78 |" in capsys.readouterr().out
    assert json.loads((tmp_path / "out/figures.json").read_text(encoding="utf-8")) == document


def test_the_model_that_ships_is_measured_too_and_a_card_that_is_not_there_is_said(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    offered(monkeypatch, {"lexical": Fixed(lambda _: says(N)), "builtin-nli": Fixed(lambda _: says(E))})
    script.main([str(data), "--cache", str(tmp_path / "cache")])
    assert "builtin-nli" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="There is no missing-card"):
        script.main([str(data), "missing-card", "--cache", str(tmp_path / "cache")])


def test_a_folder_without_the_data_sets_is_said_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="No such file"):
        script.main([str(tmp_path), "--cache", str(tmp_path / "cache")])


def test_the_lexical_row_is_the_model_that_the_package_opens(tmp_path: Path, minilm: Embedder) -> None:
    pairs = [Pair("The mill burned down in 1911.", "The mill burned down in 1912.")]
    found, model = asked("lexical", pairs, tmp_path, silent), LexicalRelationModel(minilm)
    assert (found.identity, [found.said[pair] for pair in pairs]) == (model.identity, asyncio.run(model.relate(pairs)))
