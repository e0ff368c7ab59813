"""What `scripts.fuzz` damages: how each is made, small and whole, and how it is read."""

import asyncio
import hashlib
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from localfact.api.evaluate import evaluate
from localfact.api.infer import infer
from localfact.api.rescore import rescore
from localfact.api.runs import claim_rows, list_runs
from localfact.corpus.build import build_corpus
from localfact.corpus.corpus import Corpus
from localfact.corpus.importing.collections import import_pages
from localfact.corpus.verify import verify
from localfact.corpus.writer import CorpusWriter
from localfact.inputs.responses import read_responses
from localfact.llm.engine import Engine, Message
from localfact.llm.layers.recording import RecordingLayer, ReplayEngine
from localfact.llm.scripted import ScriptedEngine
from localfact.methods.options import Options
from localfact.models.cards import load_card, weights_folder
from localfact.models.cross_encoder import CrossEncoder
from localfact.models.embedder import Embedder, InTurn
from localfact.runs.assessments import read_assessment
from localfact.runs.run_folder import RunFolder
from localfact.runtime.locations import data_folder
from localfact.web.pages import Page

CHAT = [Message(role="user", content="Does ice float?")]
PAGES = [
    Page(link=f"https://a.example/{number}", title=f"Page {number}", text=f"Tower {number} is {number} metres tall. " * 20)
    for number in range(30)
]
ROW = {
    "prompt": "Tell me about the mill.",
    "response": "The mill of Torsk opened in 1911. It has two wheels.",
    "passages": [
        {"text": "The mill of Torsk opened in 1911 and closed in 1950.", "title": "Mill", "link": "https://a.example"}
    ],
}


class FuzzSubject(NamedTuple):
    """Something in a folder, and how it is read."""

    make: Callable[[Path], object]
    use: Callable[[Path], object]


class HashEmbedder(InTurn):
    """An embedder whose vectors hang on a hash of the text: quick, and of no meaning."""

    identity, dimension = "drawn@1", 64

    def encode(self, texts: Sequence[str], *, role: str = "passage") -> Any:
        """Vectors of length 1, a row a text."""
        seeds = (int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) for text in texts)
        rows = np.array([np.random.default_rng(seed).normal(size=self.dimension) for seed in seeds], dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def parts(self, text: str, *, role: str = "passage") -> list[str]:
        """The text in one piece."""
        return [text]

    def remember(self, texts: Sequence[str], vectors: Any, *, role: str = "passage") -> None:
        """Nothing is kept."""


EMBEDDER = cast(Embedder, HashEmbedder())


def make_corpus(folder: Path) -> None:
    """A corpus of thirty pages."""
    build_corpus(PAGES, folder / "corpus", EMBEDDER)


def read_corpus(folder: Path) -> None:
    with Corpus.open(folder / "corpus", EMBEDDER) as corpus:
        for kind in ("chunks", "pages"):
            corpus.search("How tall is tower 7?", kind, 5)
        verify(corpus)


def grow_corpus(folder: Path) -> None:
    with CorpusWriter(folder / "corpus", EMBEDDER) as writer:
        writer.add_pages([Page(link="https://b.example/", title="New", text="A new page. " * 30)])
        writer.finish(("chunks", "pages"))


def run(rows: Sequence[Mapping[str, Any]], out: Path, cache: Path | None = None) -> None:
    """A run that needs no model."""
    options = Options(relations="lexical", embedder="none", relations_cache=cache)
    evaluate(rows, method="builtin-fr2", options=options, out=out)


def make_run(folder: Path) -> None:
    """A run of two responses."""
    run([ROW, ROW], folder / "run")


def read_run(folder: Path) -> None:
    rescore(folder / "run")
    claim_rows(folder / "run")
    read_assessment(folder / "run", "1")
    list_runs(folder)


def resume_run(folder: Path) -> None:
    make_run(folder)
    with RunFolder(folder / "run", {}, {}):
        pass


async def both_calls(engine: Engine) -> None:
    await engine.generate(CHAT, max_tokens=9, stage="s")
    await engine.choose(CHAT, ["yes", "no"], stage="s")
    await engine.aclose()


def make_transcript(folder: Path) -> None:
    asyncio.run(both_calls(RecordingLayer(ScriptedEngine(lambda chat: "It floats."), folder / "calls.sqlite")))


def read_transcript(folder: Path) -> None:
    asyncio.run(both_calls(ReplayEngine(folder / "calls.sqlite")))


def make_relations(folder: Path) -> None:
    run([ROW], folder.parent / "unused", folder / "relations.sqlite")


def read_relations(folder: Path) -> None:
    run([ROW], folder / "run", folder / "relations.sqlite")


def make_card(folder: Path) -> None:
    """Three cards."""
    for name in ("small-lm", "smollm2-135m", "minilm"):
        shutil.copy(data_folder("models") / f"{name}.yaml", folder)


def read_cards(folder: Path) -> None:
    for file in folder.glob("*.yaml"):
        load_card(str(file))


def make_model(folder: Path) -> None:
    """A relation model of random weights."""
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    labels = dict(enumerate(("entailment", "contradiction", "neutral")))
    BertForSequenceClassification(BertConfig(id2label=labels, **shape)).save_pretrained(folder / "model")
    AutoTokenizer.from_pretrained(weights_folder(load_card("minilm"))).save_pretrained(folder / "model")


def read_model(folder: Path) -> None:
    card = load_card(str(folder / "model")).model_copy(update={"roles": ("relations",)})
    CrossEncoder(card, "relations", device="cpu").length("Ice floats.")


def make_graphs(folder: Path) -> None:
    """A graph in JSON and as UAI."""
    graph = {
        "atoms": {f"a{number}": 0.5 for number in range(3)},
        "contexts": {f"c{number}": 0.9 for number in range(3)},
        "relations": [{"source": f"c{n}", "target": f"a{n}", "type": "entailment", "probability": 0.9} for n in range(3)],
    }
    (folder / "graph.json").write_text(json.dumps(graph))
    list(infer([folder / "graph.json"], write_uai=folder))


def read_graphs(folder: Path) -> None:
    list(infer([*folder.glob("*.json"), *folder.glob("*.uai")]))


def make_responses(folder: Path) -> None:
    """Responses as JSON lines, JSON and CSV."""
    (folder / "rows.jsonl").write_text("".join(json.dumps(ROW) + "\n" for _ in range(5)))
    (folder / "rows.json").write_text(json.dumps([ROW] * 3))
    (folder / "rows.csv").write_text("prompt,response\nWhat?,The mill opened in 1911.\n")


def read_rows(folder: Path) -> None:
    for file in sorted(folder.glob("rows.*")):
        read_responses(file)


def make_collection(folder: Path) -> None:
    """Pages as JSON lines, HTML and WARC."""
    (folder / "pages.jsonl").write_text("".join(json.dumps({"url": p.link, "text": p.text}) + "\n" for p in PAGES))
    html = b"<html><body><p>The lamp was lit in 1862. It is red.</p></body></html>"
    (folder / "page.html").write_bytes(html)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(html)
    record = (
        b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000001>\r\n"
        b"WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Target-URI: https://a.example/\r\n"
        b"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n"
    ) % (len(head) + len(html))
    (folder / "site.warc").write_bytes((record + head + html + b"\r\n\r\n") * 5)


def read_collection(folder: Path) -> None:
    list(import_pages(folder))


SUBJECTS: Mapping[str, FuzzSubject] = {
    "corpus": FuzzSubject(make_corpus, read_corpus),
    "corpus that grows": FuzzSubject(make_corpus, grow_corpus),
    "run": FuzzSubject(make_run, read_run),
    "run that goes on": FuzzSubject(make_run, resume_run),
    "transcript": FuzzSubject(make_transcript, read_transcript),
    "relations": FuzzSubject(make_relations, read_relations),
    "cards": FuzzSubject(make_card, read_cards),
    "model": FuzzSubject(make_model, read_model),
    "graphs": FuzzSubject(make_graphs, read_graphs),
    "responses": FuzzSubject(make_responses, read_rows),
    "collection": FuzzSubject(make_collection, read_collection),
}
