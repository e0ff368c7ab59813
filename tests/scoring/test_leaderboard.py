"""Models are ranked by the mean over sources, by one K' for all."""

import pytest
from run_builders import assessment

from localfact.api.leaderboard import measure, of_source
from localfact.records import Assessment, Claim, PreVerification
from localfact.report.leaderboard_table import benchmark_table
from localfact.scoring.leaderboard import count_prompts, leaderboard
from localfact.scoring.recall import f1, recall_at_k_prime
from localfact.vocabulary import PreVerificationLabel


def test_each_source_counts_once_and_k_prime_is_the_median_of_all_models() -> None:
    good = [
        assessment("SSSS", index=0, source="bio"),
        assessment("SSSC", index=1, source="bio"),
        assessment("S", index=2, source="qa"),
    ]
    poor = [assessment("SC", index=0, source="bio"), assessment("C", index=1, source="qa")]
    first, second = leaderboard({"poor": poor, "good": good})
    assert (first.model, second.model) == ("good", "poor")
    bio = [f1(1.0, recall_at_k_prime(4, 4, 0.1)), f1(0.75, recall_at_k_prime(3, 4, 0.1))]  # K' of bio: median of 4, 4, 2
    assert first.by_source["bio"] == pytest.approx(sum(bio) / 2)
    assert first.by_source["qa"] == pytest.approx(1.0)
    assert first.average == pytest.approx((sum(bio) / 2 + 1) / 2)
    assert (first.responses, first.scored, first.claims) == (3, 3, 3.0)


def test_a_model_that_lacks_a_source_has_no_average_and_stands_last() -> None:
    found = leaderboard(
        {"one": [assessment("S", source="bio")], "both": [assessment("C", source="bio"), assessment("C", index=1, source="qa")]}
    )
    assert [(one.model, one.average is None) for one in found] == [("both", False), ("one", True)]


def test_responses_that_were_not_judged_are_zeros_beside_the_mean_of_the_others() -> None:
    (found,) = leaderboard({"m": [assessment("S", source="qa"), assessment("", index=1, source="qa")]})
    assert (found.average, found.with_zeros) == (1.0, 0.5)
    assert (found.responses, found.scored) == (2, 1)


def test_cost_and_the_share_settled_before_evidence() -> None:
    sure = PreVerification(label=PreVerificationLabel.SUPPORTED, confidence=1.0)
    claims = tuple(Claim(id=f"c{at}", text=f"claim {at}", preverification=sure) for at in range(4))
    one = assessment("SSSC").model_copy(
        update={
            "claims": claims,
            "counts": {"retrieve": {"claims": 1}},
            "usage": {
                "extract": {"calls": 1, "prompt_tokens": 100, "output_tokens": 20},
                "verify": {"prompt_tokens": 50, "output_tokens": 5},
            },
        }
    )
    (found,) = leaderboard({"m": [one]})
    assert (found.preverified, found.tokens) == (0.75, 175)
    assert leaderboard({"m": [assessment("S")]})[0].preverified is None


def test_prompts_that_not_all_models_answered_are_counted_by_source_and_text() -> None:
    def answer(source: str | None, prompt: str | None) -> Assessment:
        return assessment("S", source=source).model_copy(update={"prompt": prompt})

    one = [answer("bio", "a"), answer("qa", "a"), answer("qa", "b"), answer("qa", None)]
    other = [answer("bio", "a"), answer("qa", "a"), answer("bio", "b")]
    found = count_prompts({"one": one, "other": other})
    assert (found.prompts, found.not_by_all, found.without) == (4, 2, 1)
    assert count_prompts({"one": one}).not_by_all == count_prompts({"one": one}).without == 0
    assert count_prompts({}).prompts == 0


def test_a_row_of_a_model_and_source_has_the_k_prime_of_that_source() -> None:
    good = [assessment("SSSS", index=0, source="bio"), assessment("S", index=1, source="qa")]
    poor = [assessment("SC", index=0, source="bio")]
    first, second = of_source("bio", {"good": good, "poor": poor}, 0.1, None)
    assert (first.model, first.source, first.responses, second.model) == ("good", "bio", 1, "poor")
    assert second.average == pytest.approx(f1(0.5, recall_at_k_prime(1, 3, 0.1)))  # K': median of 4 and 2
    assert [one.model for one in of_source("qa", {"good": good, "poor": poor}, 0.1, None)] == ["good"]
    table = benchmark_table([first, second], "K'=median", [])
    assert [row[:2] for row in table.groups[0].rows] == [("good", "bio"), ("poor", "bio")]


def test_a_standing_tells_lengths_and_what_judging_cost_by_prices() -> None:
    one = assessment("SC").model_copy(
        update={"text": "Ann ran the mill. It burnt.", "usage": {"verify": {"prompt_tokens": 3_000, "output_tokens": 500}}}
    )
    (standing,) = leaderboard({"m": [one]})
    told = measure(standing, [one], (0.15, 0.6))
    assert (told.words, told.sentences, told.claims, told.supported) == (6, 2, 2, 1)
    assert told.cost == pytest.approx((3_000 * 0.15 + 500 * 0.6) / 1e6)
    assert measure(standing, [one], None).cost is None
