"""Near-duplicates merge at a Jaccard of 0.9 exactly, and nothing else does."""

from hypothesis import given
from hypothesis import strategies as st

from localfact.evidence.duplicates import jaccard, merge_near_duplicates, shingles
from localfact.records import Passage, passage_id


def passage(text: str, link: str = "l") -> Passage:
    return Passage(id=passage_id(text), text=text, links=(link,))


def words(count: int, start: int = 0) -> list[str]:
    return [f"w{number}" for number in range(start, start + count)]


def test_shingles_are_runs_of_five_words_whatever_their_case() -> None:
    assert shingles("One two THREE, four five six.") == {
        ("one", "two", "three", "four", "five"),
        ("two", "three", "four", "five", "six"),
    }
    assert shingles("Too short") == {("too", "short")}


def test_the_limit_is_nine_tenths() -> None:
    # 22 words make 18 shingles; two more at the end make 20, of which 18 are shared: 0.9. Three more make it 18 of 21.
    text, near, far = (" ".join(words(count)) for count in (22, 24, 25))
    assert jaccard(shingles(text), shingles(near)) == 0.9
    assert len(merge_near_duplicates([passage(text), passage(near)]).passages) == 1
    assert len(merge_near_duplicates([passage(text), passage(far)]).passages) == 2


def test_the_first_survives_and_gets_the_links() -> None:
    first, copy, other = passage("The same text.", "a"), passage("the same  text", "b"), passage("Another text.", "c")
    merged = merge_near_duplicates([first, other, copy])
    assert [(kept.id, kept.links) for kept in merged.passages] == [(first.id, ("a", "b")), (other.id, ("c",))]
    assert merged.survivor == {first.id: first.id, copy.id: first.id, other.id: other.id}


def test_a_chain_of_small_changes_is_not_drawn_together() -> None:
    chain = [passage(" ".join(words(100, start))) for start in (0, 4, 8, 12)]
    survivors = [chain[0].id, chain[0].id, chain[2].id, chain[2].id]
    assert list(merge_near_duplicates(chain).survivor.values()) == survivors


def test_texts_without_words_are_alike_only_among_themselves() -> None:
    merged = merge_near_duplicates([passage("---"), passage("..."), passage("A word.")])
    assert len(merged.passages) == 2


@given(
    st.lists(st.text(alphabet="ab ", max_size=30), max_size=12).map(
        lambda texts: [passage(text) for text in dict.fromkeys(texts)]
    )
)
def test_nothing_is_lost_and_survivors_are_different(passages: list[Passage]) -> None:
    merged = merge_near_duplicates(passages)
    kept = {survivor.id for survivor in merged.passages}
    assert set(merged.survivor) == {given.id for given in passages}
    assert set(merged.survivor.values()) == kept
    assert merge_near_duplicates(merged.passages).passages == merged.passages
