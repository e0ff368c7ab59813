"""Claims beside the nearest passages of other topics, as a search engine finds them: what most pairs at use are like.

A passage that shares a claim's words and speaks of something else is neutral; a model that has seen none takes every other
number or name in it for a contradiction.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from localfact.text import words
from scripts.training.relation_model.examples import NEUTRAL, Example, digest, topic_key
from scripts.training.relation_model.sentence_sets import KIND as SENTENCE_PAIR

SET, KIND = "retrieved", "passage of another topic"
#: Claims that passages are looked for, and passages of each: the nearest.
CLAIMS, PASSAGES = 1_800, 2
#: A passage that holds more of a claim's words than this may say the same.
MOST_SHARED = 0.8
#: Passages in which enough of a claim may stand.
SHORTEST_PASSAGE = 200


def retrieved_pairs(examples: Sequence[Example], *, seed: int = 0) -> Iterator[Example]:
    """Neutral pairs of the claims and the premises of the examples, in an order that hangs on the seed.

    Args:
        examples: of one part of the division; both texts of a pair come from them, and both topics are the pair's.
        seed: for another choice of claims.
    """
    import bm25s

    sources = [example for example in examples if example.kind != SENTENCE_PAIR]
    claims = list({example.hypothesis: example for example in sources if len(example.hypothesis.split()) > 4}.values())
    claims = sorted(claims, key=lambda one: digest(f"{seed} retrieved {one.hypothesis}"))[:CLAIMS]
    passages = list({example.premise: example for example in sources if len(example.premise) >= SHORTEST_PASSAGE}.values())
    if not claims or not passages:
        return
    texts = [words(passage.premise.casefold()) for passage in passages]
    index = bm25s.BM25(backend="numpy")
    index.index(texts, show_progress=False)
    topics = [{topic_key(topic) for topic in passage.topics} for passage in passages]
    known = [set(each) for each in texts]
    for claim in claims:
        asked = words(claim.hypothesis.casefold())
        scores = index.get_scores([word for word in asked if word in index.vocab_dict])
        own = {topic_key(topic) for topic in claim.topics}
        found = 0
        for place in np.argsort(-scores, kind="stable")[: 40 * PASSAGES].tolist():
            shared = sum(word in known[place] for word in asked) / len(asked)
            if own & topics[place] or shared > MOST_SHARED or not scores[place] > 0:
                continue
            both = (*claim.topics, *passages[place].topics)
            yield Example(SET, KIND, passages[place].premise, claim.hypothesis, NEUTRAL, both)
            found += 1
            if found == PASSAGES:
                break
