"""The powers of a pool are found again, and written into a card in the place of those before."""

from pathlib import Path

import numpy as np
import pytest
from scipy.special import log_softmax

from localfact.models.cards import OpinionPool, load_card
from localfact.records import Distribution, Pair
from localfact.relations.pooling import pooled
from scripts.training.fit_pooling import Opinions, fitted, loss, pooled_scores, put
from scripts.training.relation_model.examples import LABELS


def opinions(pairs: int, seed: int, model: float, overlap: float) -> Opinions:
    """What two say of pairs whose labels are drawn from their pool with these powers."""
    draw = np.random.default_rng(seed)
    one, other = (log_softmax(draw.normal(scale=2.0, size=(pairs, 3)), axis=1) for _ in range(2))
    chances = np.exp(log_softmax(model * one + overlap * other, axis=1))
    gold = np.array([draw.choice(3, p=row) for row in chances])
    return Opinions(one, other, gold, np.ones(pairs, dtype=np.bool_))


def test_the_powers_that_labels_were_drawn_with_are_found_and_are_the_best() -> None:
    sets = [opinions(6_000, seed, 0.8, 0.4) for seed in (1, 2)]
    pool = fitted(sets)
    assert (pool.model, pool.overlap) == (pytest.approx(0.8, abs=0.08), pytest.approx(0.4, abs=0.08))
    assert loss(sets, pool.model, pool.overlap) < min(loss(sets, 1, 0), loss(sets, 0, 1))


def test_scores_are_those_of_the_pool_that_is_used_whatever_the_premise_holds() -> None:
    draw = np.random.default_rng(3)
    one, other = (log_softmax(draw.normal(scale=1.0, size=(200, 3)), axis=1) for _ in range(2))
    held = draw.random(200) < 0.5
    pool = OpinionPool(model=0.8, overlap=0.7)
    scores = log_softmax(pooled_scores(pool.model * one, pool.overlap * other, held), axis=1)
    for place in range(200):
        pair = Pair("It has four lamps.", "It has four lamps." if held[place] else "It has nine lamps.")
        said, overlap = (Distribution(**dict(zip(LABELS, np.exp(each[place]), strict=True))) for each in (one, other))
        together = pooled(pair, said, overlap, pool)
        assert [getattr(together, label) for label in LABELS] == pytest.approx(np.exp(scores[place]), abs=1e-6)


def test_every_set_counts_alike_however_many_pairs_it_has() -> None:
    few, many = opinions(300, 1, 0.8, 0.4), opinions(6_000, 2, 0.2, 1.0)
    assert loss([few, many], 1, 1) == pytest.approx((loss([few], 1, 1) + loss([many], 1, 1)) / 2)


def test_a_card_keeps_all_else_and_has_the_newest_powers(tmp_path: Path) -> None:
    card = tmp_path / "card.yaml"
    card.write_text("name: a\nroles: [relations]\nrevision: abc # of the file\nwindow: 64\n", encoding="utf-8")
    for pool in (OpinionPool(model=1.0, overlap=0.25), OpinionPool(model=0.5, overlap=0.75)):
        put(card, pool)
        read = load_card(str(card))
        assert (read.pool, read.window) == (pool, 64)
    assert card.read_text(encoding="utf-8").count("pool:") == 1
    assert "# of the file" in card.read_text(encoding="utf-8")
