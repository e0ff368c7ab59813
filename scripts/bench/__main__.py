"""`make bench` prints, for each stage, things per second and their ratio to a plain way of doing the same, in one run.

The ratios are what to compare between machines and versions; the rates belong to this machine, now.
"""

import argparse
import asyncio
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path as FilePath

from rich.console import Console
from rich.table import Table

from localfact.models.cards import load_card
from localfact.models.embedder import Embedder, load_embedder
from localfact.records import Pair
from localfact.relations.lexical.model import LexicalRelationModel
from localfact.text import sentences
from scripts.bench import corpora, graphs, pages, service, synthetic, web
from scripts.bench import scale as scales
from scripts.bench.measure import CALLS, Path, measure_section

#: The widest table has so many columns of text: a narrower terminal wraps its lines, and no figure is cut.
WIDTH = 172
#: Sizes at --size 1.
SENTENCE_TEXTS = 200
EMBEDDED_PASSAGES = 96
RELATED_PASSAGES = 40
RELATED_CLAIMS = 50
#: The --size at which the indexes are measured with a million passages, and all else as at 1.
LARGE = "large"

Section = tuple[str, str, dict[str, Path]]


def splitting(size: float) -> Section:
    """Sentences, against a regular expression that knows nothing."""
    texts = synthetic.texts(max(1, int(SENTENCE_TEXTS * size)), 250)
    count = sum(len(sentences(text)) for text in texts)
    naive = re.compile(r"(?<=[.!?])\s+")
    paths = {
        "naive regular expression": Path(lambda: [naive.split(text) for text in texts], count),
        "text.sentences": Path(lambda: [sentences(text) for text in texts], count),
    }
    return "sentences split", "naive regular expression", paths


def embedding(size: float, embedder: Embedder) -> Section:
    """Passages of 150 words one by one, as localfact embeds on a CPU, against sentence-transformers in batches of 32."""
    from sentence_transformers import SentenceTransformer

    from localfact.models.cards import weights_folder

    texts = synthetic.texts(max(8, int(EMBEDDED_PASSAGES * size)), 150, seed=1)
    plain = SentenceTransformer(str(weights_folder(load_card("minilm"))), local_files_only=True, device="cpu")

    unseen = iter([synthetic.texts(len(texts), 150, seed=10 + number) for number in range(CALLS)])
    embedder.encode(texts)
    paths = {
        "sentence-transformers, batches of 32": Path(lambda: plain.encode(texts, batch_size=32), len(texts)),
        "Embedder.encode, each alone": Path(lambda: embedder.encode(next(unseen)), len(texts)),
        "Embedder.encode, remembered": Path(lambda: embedder.encode(texts), len(texts)),
    }
    return "passages embedded", "sentence-transformers, batches of 32", paths


def relating(size: float, embedder: Embedder) -> Section:
    """Pairs of claims with pages of 600 words, without vectors and with them, remembered or not."""
    passages = synthetic.texts(max(2, int(RELATED_PASSAGES * size)), 600, seed=6)
    claims = synthetic.texts(max(2, int(RELATED_CLAIMS * size)), 12, seed=7)
    pairs = [Pair(passage, claim) for passage in passages for claim in claims]
    plain, with_vectors = LexicalRelationModel(None), LexicalRelationModel(embedder)
    unseen = iter([[Pair(f"{premise} {number}", hypothesis) for premise, hypothesis in pairs] for number in range(CALLS)])
    paths = {
        "lexical, no embedder": Path(lambda: asyncio.run(plain.relate(pairs)), len(pairs)),
        "lexical, vectors remembered": Path(lambda: asyncio.run(with_vectors.relate(pairs)), len(pairs)),
        "lexical, vectors made anew": Path(lambda: asyncio.run(with_vectors.relate(next(unseen))), len(pairs)),
    }
    return f"pairs related ({len(passages)} pages x {len(claims)} claims)", "lexical, no embedder", paths


def stages(size: float) -> Iterator[tuple[str, Table]]:
    """What takes texts and pairs, each measured when its turn comes."""
    embedder = load_embedder(load_card("minilm"))
    yield measure_section(*splitting(size))
    yield measure_section(*embedding(size, embedder))
    yield measure_section(*relating(size, embedder))


def scale(text: str) -> float | str:
    """A number above 0, or the word for the largest measurement. Raises ValueError for anything else, nan included."""
    if text != LARGE and not 0 < float(text) < float("inf"):
        raise ValueError(text)
    return text if text == LARGE else float(text)


#: What is measured -> its titles and tables.
BENCHES: Mapping[str, Callable[[argparse.Namespace], Iterator[tuple[str, Table]]]] = {
    "stages": lambda given: stages(given.size),
    "corpora": lambda given: corpora.tables(given.size, large=given.large),
    "web": lambda given: web.tables(given.size),
    "graphs": lambda given: graphs.tables(given.size, given.graphs),
    "pages": lambda given: pages.tables(given.size),
    "service": lambda given: service.tables(given.size),
    "scale": lambda given: scales.tables(given.size),
}


def main() -> None:
    warnings.simplefilter("ignore", FutureWarning)  # pgmpy's, about names of its own
    parser = argparse.ArgumentParser(prog="make bench", description="Speed of every stage, as ratios within one run.")
    parser.add_argument(
        "--size", type=scale, default=1.0, help="scale of the material; 0.1 for a quick look, 'large' for a million passages"
    )
    parser.add_argument("--graphs", type=FilePath, help="a folder of fact graphs with reference marginals (*.json)")
    parser.add_argument("--only", nargs="+", choices=BENCHES, default=list(BENCHES), help="default: all")
    given = parser.parse_args()
    given.large = given.size == LARGE
    given.size = 1.0 if given.large else given.size
    console = Console(width=max(Console().width, WIDTH))
    for title, table in chain.from_iterable(BENCHES[name](given) for name in given.only):
        console.print(f"\n{title}", style="bold", highlight=False)
        console.print(table)


if __name__ == "__main__":
    main()
