"""Takes a response apart sentence by sentence, without context, with the examples that are most like each sentence (FActScore).

The examples are chosen by BM25 among our own (`prompts/decomposition.yaml`), as FActScore chooses among its annotators'.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from localfact.claims.atomizer import Atomizer
from localfact.corpus.indexing.bm25 import BM25
from localfact.llm.engine import Chat
from localfact.prompts import OwnFiles, boundary_of, decomposition_chat, examples_of
from localfact.records import Response

#: How many examples a sentence is shown with.
EXAMPLES = 4


class Decomposer(Atomizer):
    """One call a sentence (Min et al. 2023, section 3). Arguments as `PromptedExtractor`."""

    stride = 1

    def _chat(self, response: Response, before: str, text: str, after: str) -> Chat:
        return decomposition_chat(
            text, similar_examples(text, self.engine.own_prompts), boundary=boundary_of(self.engine, self.seed)
        )


def similar_examples(text: str, own: OwnFiles | None = None) -> Sequence[Any]:
    """The EXAMPLES of `prompts/decomposition.yaml` whose texts are most like this one by BM25, the most alike last.

    `own`: the user's own files; one of that name has the examples then.
    """
    pool = examples_of("decomposition", own or {})
    best = np.argsort(-_texts(tuple(example["text"] for example in pool)).scores(text), kind="stable")[:EXAMPLES]
    return [pool[place] for place in reversed(best.tolist())]


@lru_cache(maxsize=4)
def _texts(texts: tuple[str, ...]) -> BM25:
    return BM25.of(texts)
