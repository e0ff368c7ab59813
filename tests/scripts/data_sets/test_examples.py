"""The division by topic: the same for every order, and no topic on two sides."""

import random

from scripts.data_sets.examples import ENTAILMENT, Example, Part, split_by_topic


def example(name: str, *topics: str) -> Example:
    return Example(name, "kind", f"about {topics}", "claim", ENTAILMENT, topics)


def test_what_shares_a_topic_is_on_one_side_also_through_others() -> None:
    chain = [example("one", f"topic {number}", f"topic {number + 1}") for number in range(30)]
    for part in split_by_topic(chain).values():
        assert len(part) in (0, 30)


def test_a_topic_is_told_by_its_words_whatever_their_case_and_what_is_between() -> None:
    for number in range(40):
        parts = split_by_topic([example("one", f"The bridge, no. {number}"), example("two", f"the  BRIDGE - no {number}!")])
        assert sorted(len(part) for part in parts.values()) == [0, 0, 2]


def test_the_division_does_not_hang_on_the_order_and_has_about_the_shares() -> None:
    examples = [example("one", f"topic {number}") for number in range(4_000)]
    parts = split_by_topic(examples)
    shuffled = random.Random(0).sample(examples, len(examples))
    assert {part: set(found) for part, found in split_by_topic(shuffled).items()} == {
        part: set(found) for part, found in parts.items()
    }
    assert 0.13 < len(parts[Part.TEST]) / 4_000 < 0.17
    assert 0.04 < len(parts[Part.DEVELOPMENT]) / 4_000 < 0.06


def test_what_shares_a_topic_with_a_set_that_is_only_measured_is_only_measured() -> None:
    for number in range(40):
        parts = split_by_topic(
            [example("factor_expert", f"question {number}"), example("expertqa", f"question {number}", "page")]
        )
        assert len(parts[Part.TEST]) == 2
