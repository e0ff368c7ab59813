"""A reader of the documentation: the folder, models, hub and web that the commands of its pages suppose."""

import csv
import json
import shutil
from pathlib import Path
from unittest.mock import patch

from commands import CommandLine, QuickCommandLine
from eval_logs import sample, write_archive
from loopback_hub import LoopbackHub, Repository
from small_web import SmallWeb
from tiny_albert import tiny_albert
from tiny_models import tiny_llama

from localfact.llm.placing.settings import EngineSettings
from localfact.llm.scripted import ScriptedEngine
from localfact.models.cards import find_card

ROOT = Path(__file__).resolve().parents[2]
LANGUAGE_MODELS = (
    "qwen2.5-coder-1.5b",
    "llama-3.1-8b",
    "llama-3.1-70b",
    "qwen2.5-7b",
    "smollm2-135m",
    "granite-guardian-3.1-8b",
    "minicheck-7b",
)
CURIE = "Marie Curie was born in Warsaw in 1867. She won two Nobel Prizes."
#: Commands that make what later ones of a page read.
BEFORE = (
    "eval --data answers.jsonl --corpus index/mine --relations lexical --embedder none --shards 2 --shard 1 --out runs/shard-1",
    "eval --data answers.jsonl --corpus index/mine --relations lexical --embedder none --shards 2 --shard 2 --out runs/shard-2",
    "eval --data answers.jsonl --corpus index/mine --relations lexical --embedder none --out runs/HASH",
    "correct runs/HASH",
    "eval --data runs/HASH/corrections.jsonl --relations lexical --embedder none --out runs/corrected",
    "eval --method builtin-fr1 --limit 2 --claims given --relations lexical --embedder none --out runs/one",
    "eval --method builtin-fr2 --limit 2 --claims given --relations lexical --embedder none --out runs/other",
    "calibrate --data labelled.jsonl --model llama-3.1-8b --prior-map map.json",
    "eval --data answers.jsonl --corpus index/mine --model llama-3.1-8b --transcript calls.sqlite --out runs/recorded",
    "annotate import labelled.csv --into annotations/mine",
    "annotate export annotations/mine --out gold.jsonl",
)


def engine(settings: EngineSettings) -> ScriptedEngine:
    """In place of a large model: finds one claim in everything, and takes the first label."""
    scripted = ScriptedEngine(
        lambda chat: "- Marie Curie was born in Warsaw. ###LIKELY SUPPORTED###", lambda chat, labels: {labels[0]: 0.999}
    )
    scripted.identity = settings.identity
    return scripted


def weights(folder: Path) -> Path:
    """Weights, none of them large, under the names of the models that the pages speak of."""
    made = tiny_llama(folder / "folder", window=8192)
    for name in LANGUAGE_MODELS:
        (folder / name).symlink_to(made)
    tiny_albert(folder / "albert-vitaminc", window=512)
    return folder


def hub() -> LoopbackHub:
    """Has a few bytes for each model that the pages download from it."""
    cards = [find_card(name) for name in ("llama-3.1-8b", "qwen2.5-7b")]
    files = {"config.json": b"{}", "tokenizer.json": b"{}", "model.safetensors": (2).to_bytes(8, "little") + b"{}"}
    return LoopbackHub({card.hub: Repository(files, commit=card.revision, gated=card.gated) for card in cards if card.hub})


def command_line(folder: Path, weights: Path) -> CommandLine:
    """The command line in the reader's folder."""
    user = QuickCommandLine(folder)
    user.environment |= {"LOCALFACT_WEIGHTS": str(weights)}
    return user


def prepare(folder: Path, weights: Path, web: SmallWeb) -> Path:
    """Fills the folder: data in every form, a corpus, another that was fetched, a run, a transcript, a map of priors."""
    shutil.copytree(ROOT / "index/sample", folder / "index/mine")
    pages = (ROOT / "index/sample-pages.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)[:4]
    for name in ("pages.jsonl", "index/sample-pages.jsonl"):
        (folder / name).write_text("".join(pages), encoding="utf-8")
    (folder / "prompts/mine").mkdir(parents=True)
    write_data(folder)
    user = command_line(folder, weights)
    fetch = ["corpus", "fetch", "--data", "answers.jsonl", "--out", "index/web", "--embedder", "none", *web.words]
    with patch("localfact.llm.cores.vllm.VLLMEngine", engine):
        for words in (fetch, *(command.split() for command in BEFORE)):
            done = user(*words)
            assert done.returncode == 0, done.stderr
    return folder


def write_data(folder: Path) -> None:
    """The files that the pages name, each with one row where that will do."""
    answer = {"id": "marie-curie", "topic": "Marie Curie", "prompt": "Who was Marie Curie?", "response": CURIE}
    claims = [{"id": "a", "text": "Marie Curie was born in Warsaw.", "label": "S", "passages": ["p"]}]
    given = {**answer, "claims": claims, "passages": [{"id": "p", "title": "Marie Curie", "text": "She was born in Warsaw."}]}
    labelled = {**answer, "claims": [{"text": f"Claim {n}.", "label": "NS" if n < 10 else "S"} for n in range(250)]}
    facts = [{"text": "Marie Curie was a physicist.", "label": "S"}]
    biography = {"input": "Who?", "output": CURIE, "topic": "Marie Curie", "annotations": [{"human-atomic-facts": facts}]}
    relation = {"source": "c", "target": "a", "type": "entailment", "probability": 0.9}
    graph = {"atoms": {"a": 0.5}, "contexts": {"c": 0.99}, "relations": [relation]}
    rows = {
        "answers.jsonl": answer,
        "labelled.jsonl": labelled,
        "prompts.jsonl": {"prompt": "Who was Marie Curie?"},
        **dict.fromkeys(("biographies.jsonl", "claims.jsonl", "flaherty_wikipedia.json"), given),
        "FACTSCORE.jsonl": biography,
        **dict.fromkeys(("graph.json", "other.json"), graph),
    }
    for name, row in rows.items():
        (folder / name).write_text(json.dumps(row) + "\n", encoding="utf-8")
    write_logs(folder)
    row = f'marie-curie,"{CURIE}",Marie Curie was born in Warsaw.,supported'
    (folder / "labelled.csv").write_text(f"id,response,claim,label\n{row}\n")
    (folder / "answer.txt").write_text(CURIE)
    (folder / "bridge.txt").write_text("The harbour bridge at Veldhaven opened in 1889 [1].")
    (folder / "sources.json").write_text('["The Veldhaven bridge opened in 1889."]')
    (folder / "question.txt").write_text("Is Warsaw in Poland?")
    (folder / "more").mkdir()
    (folder / "more/curie.html").write_text(f"<html><body><article><p>{CURIE}</p></article></body></html>")
    with (folder / "expert_factor.csv").open("w", newline="") as file:
        names = ("full_prefix", "completion", "contradiction_0", "contradiction_1", "contradiction_2")
        csv.writer(file).writerows([names, ("Ada lived. ", "She was born in London.", "in Paris.", "in Rome.", "in Bern.")])


def write_logs(folder: Path) -> None:
    """An answer in other tools' logs, and in a table."""
    from pyarrow import Table, parquet

    write_archive(folder / "answers.eval", [sample("marie-curie", CURIE)])
    line = {"doc_id": 0, "doc": {}, "arguments": {"gen_args_0": {"arg_0": "Who?", "arg_1": {}}}, "resps": [[CURIE]]}
    (folder / "samples_towns_2026-05-17T10-11-12.345678.jsonl").write_text(json.dumps(line), encoding="utf-8")
    result = {"testIdx": 0, "promptIdx": 0, "provider": {"id": "echo"}, "response": {"output": CURIE}, "vars": {}}
    (folder / "results.json").write_text(json.dumps({"results": {"version": 3, "results": [result]}}), encoding="utf-8")
    parquet.write_table(Table.from_pylist([{"response": CURIE}]), folder / "answers.parquet")
