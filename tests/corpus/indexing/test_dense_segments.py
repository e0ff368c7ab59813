"""Beyond the size for a flat index, codes choose what is scored; few are lost, and the scores are exact."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from localfact.corpus.indexing import segments
from localfact.corpus.indexing.dense_segments import DenseSegments
from localfact.corpus.indexing.segments import Segments
from localfact.models.embedder import InTurn, Vectors

pytestmark = pytest.mark.slow


def clustered(count: int) -> Mapping[str, Vectors]:
    """Unit vectors around random centres, and queries around some of them."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((count // 50, 64))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)

    def around(number: int) -> Vectors:
        rows = centres[rng.integers(0, len(centres), number)] + 0.7 / 8 * rng.standard_normal((number, 64))
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)

    return {"rows": around(count), "queries": around(50)}


def test_codes_find_nearly_all_that_the_flat_index_finds_with_its_scores(tmp_path: Path) -> None:
    made = clustered(20_000)
    rows = made["rows"]

    class Table(InTurn):
        identity, dimension = "table@1", 64

        def parts(self, text: str) -> list[str]:
            return [text]

        def encode(self, texts: Sequence[str]) -> Vectors:
            return rows[[int(text) for text in texts]]

    texts = {f"{number:06d}": str(number) for number in range(len(rows))}
    found: dict[bool, list[list[int]]] = {}
    for by_codes in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(segments, "FLAT_VECTORS", 10_000 if by_codes else 100_000)
            folder = Segments(tmp_path / str(by_codes), "chunks")
            folder.add(texts, Table())
        # The choice stands in the folder: opening does not look at the size again.
        dense = folder.open(dense=True).dense
        assert isinstance(dense, DenseSegments)
        assert dense.by_codes == by_codes
        found[by_codes] = [dense.best(query, 10) for query in made["queries"]]
    both = [len(set(one) & set(other)) / 10 for one, other in zip(found[True], found[False], strict=True)]
    assert np.mean(both) > 0.98
    agreeing = [one == other for one, other, share in zip(found[True], found[False], both, strict=True) if share == 1]
    assert all(agreeing)
