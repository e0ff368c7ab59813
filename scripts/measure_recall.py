"""What recall from evidence is worth: sentences are deleted, and what the pages say of them has to come back as omitted.

    python -m scripts.measure_recall DATA [--model qwen2.5-coder-1.5b] [--responses 12] [--work FOLDER] [--half 1]

Two sets. The sample: its responses three times, a quarter, half and three quarters of the sentences deleted, and its pages. And
FActScore's biographies by ChatGPT, one such share deleted of each. No pages come with these: the sentences of which people
called every fact supported, of what InstructGPT and PerplexityAI wrote about the same person, stand in for pages of two hosts.

A deleted fact is a claim that people called supported, of a deleted sentence. The pages say it where a key fact is matched with
it: by vectors, words, and the numbers and names of the two texts, without a relation model. It comes back where one of these
is omitted; a key fact that is matched with a claim of a sentence that stayed has not to be. R@K is by people's labels: what is
left of the supported claims, by their median. Topics are halved by a hash: 1 is measured on, 0 is there to look at. In brackets
95 % intervals by a bootstrap over topics. Answers are kept in FOLDER: the same command goes on where it was interrupted.
"""

import asyncio
import random
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import spearmanr

from localfact.api.sample import sample_corpus, sample_responses
from localfact.corpus.corpus import Corpus
from localfact.evidence.corpus_retriever import CorpusRetriever, Selection
from localfact.evidence.given import GivenEvidence
from localfact.methods.options import Options
from localfact.methods.relations import find_relation_model, open_cached
from localfact.models.embedder import Embedder, open_embedder
from localfact.recall.checking import PASSAGES, RecallChecker
from localfact.recall.facts import details_of, parse, read_premise, share_held, subject_of
from localfact.records import Evidence, EvidenceRecall, Pair, Passage, Response, passage_id
from localfact.scoring.bootstrap import Estimator
from localfact.scoring.recall import recall_at_k
from localfact.stages import Relations
from localfact.text import sentences
from localfact.vocabulary import FactVerdict
from scripts.assessing import half_of, parser_of
from scripts.labelled_sets import biographies_with_pages, digest, json_lines, supported
from scripts.measure_relations import Counted, ratio
from scripts.relation_answers import calibrate, models_of, name_of
from scripts.tables import markdown_table, with_interval

SHARES = (0.25, 0.5, 0.75)
#: Key facts of a response, as docs/recall.md has it.
FACTS = 50
#: A claim and a key fact are matched where they are as near as vectors, either holds so much of the other's words and the other
#: so much of its, and one has all numbers and names of the other.
NEAR, MOST_SHARED, LEAST_SHARED = 0.5, 0.6, 0.2


class Shortened(NamedTuple):
    """A response with sentences deleted: the share deleted, and the supported claims of what is gone and of what stayed."""

    topic: str
    response: Response
    share: float
    gone: Sequence[str]
    stayed: Sequence[str]


def main() -> None:
    parser = parser_of(__doc__, "runs/recall")
    parser.add_argument("--responses", type=int, default=12, help="how many responses of each set are in the draw")
    parser.add_argument("--half", type=int, default=1, help="which half of the topics")
    chosen = parser.parse_args()
    sets = {
        name: sorted((one for one in every if half_of(one.topic) == chosen.half), key=drawing)
        for name, every in (("sample", sample()), ("biographies", biographies(chosen.data)))
    }
    embedder, rows = open_embedder("minilm"), []
    if embedder is None:
        raise SystemExit("The embedder minilm is not here.")
    for options in models_of(chosen.model):
        drawn = {name: every[: chosen.responses] if options.model else every for name, every in sets.items()}
        for name, found in asyncio.run(check_all(options, drawn, embedder, chosen.work)).items():
            rows.append([name, name_of(options), *figures(drawn[name], found, embedder)])
    heads = ("responses", "key facts", "calls", "deleted facts, matched", "come back", "stayed, matched", "called omitted")
    ranks = ("R@E with the share deleted", "R@K with it")
    print(markdown_table(("set", "relation model", *heads, *ranks), sorted(rows, key=lambda row: row[0])))


def drawing(one: Shortened) -> str:
    return digest(f"drawn {one.topic} {one.share}")


def sample() -> Iterator[Shortened]:
    """The sample's responses, each three times."""
    for row in json_lines(sample_responses()):
        text = row["response"]
        spans = sentences(text)
        claims: list[list[str]] = [[] for _ in spans]
        for claim in row["claims"]:
            place = text.find(claim["quote"])
            at = next((number for number, span in enumerate(spans) if span.start <= place < span.end), None)
            if at is not None and claim["label"] == "S" and claim["in_corpus"]:
                claims[at].append(claim["text"])
        starts = [0, *(span.end for span in spans[:-1])]  # an item's marker goes with it
        parts = [text[start : span.end] for start, span in zip(starts, spans, strict=True)]
        for share in SHARES:
            response = Response(id=row["id"], text="", topic=row["topic"], prompt=row["prompt"])
            yield shorten(response, parts, claims, share)


def biographies(data: Path) -> Iterator[Shortened]:
    """ChatGPT's biographies, with what stands in for pages."""
    for row, pages in biographies_with_pages(data):
        topic = row["topic"]
        passages = [Passage(id=passage_id(text), text=text, title=topic, host=host) for host, text in pages.items()]
        prompt = row["input"].removeprefix("Question: ")
        response = Response(id=topic, text="", topic=topic, prompt=prompt, evidence=Evidence(passages=tuple(passages)))
        told = [(f"{one['text'].strip()} ", supported(one)) for one in row["annotations"]]
        share = SHARES[int(digest(topic), 16) % len(SHARES)]
        yield shorten(response, [text for text, _ in told], [facts for _, facts in told], share)


def shorten(response: Response, parts: Sequence[str], claims: Sequence[Sequence[str]], share: float) -> Shortened:
    """The response of these sentences without a share of them, drawn by its id."""
    count = round(share * len(parts))
    gone = set(random.Random(f"{response.id} {share}").sample(range(len(parts)), count))
    text = "".join(part for number, part in enumerate(parts) if number not in gone)
    of_gone, of_stayed = (
        [claim for number, own in enumerate(claims) if (number in gone) is taken for claim in own] for taken in (True, False)
    )
    kept = response.model_copy(update={"text": text})
    return Shortened(response.topic or "", kept, count / len(parts), of_gone, of_stayed)


async def check_all(
    options: Options, sets: dict[str, list[Shortened]], embedder: Embedder, work: Path
) -> dict[str, list[EvidenceRecall]]:
    """What each response of each set says of the key facts, by one relation model."""
    async with AsyncExitStack() as opened:
        corpus = opened.enter_context(Corpus.open(sample_corpus(), embedder))
        pages = CorpusRetriever(corpus, Selection(k=PASSAGES))
        checker = RecallChecker(GivenEvidence(pages, embedder, k=PASSAGES), embedder, FACTS)
        cache = open_cached(find_relation_model(options).open(opened), work / "relations.sqlite", opened)

        async def relate(pairs: Sequence[Pair]) -> Relations:
            return calibrate(options, dict(zip(pairs, await cache.relate(pairs), strict=True)))

        return {
            name: [await checker.check(one.response, relate, lambda what, number: None) for one in every]
            for name, every in sets.items()
        }


def match(claims: Sequence[str], found: EvidenceRecall, subject: str, embedder: Embedder) -> list[list[int]]:
    """For each claim the places of the key facts that say it, or that it says."""
    if not claims or not found.facts:
        return [[] for _ in claims]
    texts = [fact.text for fact in found.facts]
    near = embedder.encode(claims) @ embedder.encode(texts).T
    apart = parse(subject).weights.keys()

    def alike(claim: str, text: str) -> bool:
        shared = sorted(
            (share_held(parse(claim), read_premise(text), apart), share_held(parse(text), read_premise(claim), apart))
        )
        own, others = (details_of(parse(one)) - apart for one in (claim, text))
        return shared[1] >= MOST_SHARED and shared[0] >= LEAST_SHARED and (own <= others or others <= own)

    return [
        [place for place, text in enumerate(texts) if near[row, place] >= NEAR and alike(claim, text)]
        for row, claim in enumerate(claims)
    ]


def figures(every: Sequence[Shortened], found: Sequence[EvidenceRecall], embedder: Embedder) -> Iterator[str]:
    """The cells of a row."""
    counted = []
    for one, said in zip(every, found, strict=True):
        subject = subject_of(one.response)
        stayed = {place for places in match(one.stayed, said, subject, embedder) for place in places}
        omitted = {place for place, fact in enumerate(said.facts) if fact.verdict is FactVerdict.OMITTED}
        # What a sentence that stayed says as well is not gone.
        gone = [own for places in match(one.gone, said, subject, embedder) if places and not (own := set(places)) & stayed]
        counted.append((len(one.gone), len(gone), sum(bool(own & omitted) for own in gone), len(stayed), len(stayed & omitted)))
    table = np.array(counted, dtype=float)
    topics = list(dict.fromkeys(one.topic for one in every))
    rows_of = [np.array([row for row, one in enumerate(every) if one.topic == topic]) for topic in topics]
    shares = np.array([one.share for one in every])
    recalls = np.array([np.nan if said.score is None else said.score for said in found])
    supported_left = np.array([len(one.stayed) for one in every])
    k = float(np.median([len(one.stayed) + len(one.gone) for one in every]))
    at_k = np.array([recall_at_k(int(left), k) for left in supported_left])

    def share(part: int, whole: int) -> Estimator:
        return ratio(Counted(*(np.array([table[rows, at].sum() for rows in rows_of]) for at in (part, whole))))

    def rank(values: np.ndarray) -> Estimator:
        def estimate(drawn: np.ndarray) -> float:
            rows = np.concatenate([rows_of[topic] for topic in drawn])
            rows = rows[np.isfinite(values[rows])]
            return float(spearmanr(shares[rows], values[rows]).statistic)

        return estimate

    yield f"{len(every)} of {len(topics)} topics"
    yield f"{np.mean([len(said.facts) for said in found]):.0f} a response"
    yield f"{sum(said.counts.get('pairs', 0) for said in found):,}"
    yield f"{table[:, 1].sum():.0f} of {table[:, 0].sum():.0f}"
    yield with_interval(share(2, 1), len(topics), ".1f", ".1f", times=100)
    yield f"{table[:, 3].sum():.0f}"
    yield with_interval(share(4, 3), len(topics), ".1f", ".1f", times=100)
    yield with_interval(rank(recalls), len(topics), ".2f")
    yield with_interval(rank(at_k), len(topics), ".2f")


if __name__ == "__main__":
    main()
