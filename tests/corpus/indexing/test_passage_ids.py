"""The ids of passages as an array of bytes are the sequence of strings that they were."""

from pathlib import Path

import numpy as np

from localfact.corpus.indexing.passage_ids import PassageIds


def test_ids_of_many_scripts_and_widths_keep_their_order(tmp_path: Path) -> None:
    names = ["b", "a", "Zürich", "北京", "\U0001f30d", "\uffee", "a-very-long-id-of-a-passage"]
    PassageIds.of(names).save(tmp_path / "passages.npy")
    ids = PassageIds.load(tmp_path / "passages.npy")
    assert ids == tuple(sorted(names))
    assert ids[1:3] == tuple(sorted(names))[1:3]
    asked = np.array([name.encode() for name in ("b", "a-very-long-id-of-a-passage-and-more", "北京", "c")])
    assert ids.positions(asked).tolist() == [ids.index("b"), -1, ids.index("北京"), -1]


def test_ids_equal_a_sequence_of_the_same_strings_and_nothing_else() -> None:
    ids = PassageIds.of(["a", "b"])
    assert ids == ["a", "b"]
    assert ids not in ([], ["a"], ["a", "c"], ["a", "b", "c"], "ab", None, 2)
