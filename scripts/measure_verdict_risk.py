"""Whether thresholds of verdicts hold what they promise on claims that other people labelled, and what is still decided.

    python -m scripts.measure_verdict_risk DATA [--model qwen2.5-coder-1.5b] [--max-risk 0.05] [--delta 0.1] [--work FOLDER]

Sets and answers are those of measure_calibration.py, whose FOLDER it shares. The responses of a set are split in two by lot,
many times; thresholds are chosen on one half, and counted is how often, in the other, more of the verdicts that stand are wrong
than was promised: of all splits, those included in which nothing could be promised.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from localfact.api.calibrate_verdicts import AGREES, sureness_of
from localfact.records import Assessment
from localfact.scoring.verdict_risk import lowest_threshold, threshold_curve
from localfact.vocabulary import VerdictLabel
from scripts.assessing import OWN, SOFT, parser_of
from scripts.measure_calibration import (
    WORK,
    assess_own,
    labelled_sets,
    measure_reference,
    pairs_to_ask,
    with_found_shares,
)
from scripts.relation_answers import asked, change, models_of, name_of
from scripts.tables import markdown_table

SPLITS = 100
HEADS = ("verdict", "claims", "wrong", "splits with a threshold", "risk above the promise", "mean risk", "still decided")


def main() -> None:
    parser = parser_of(__doc__, WORK)
    parser.add_argument("--max-risk", type=float, default=0.05)
    parser.add_argument("--delta", type=float, default=0.1)
    chosen = parser.parse_args()
    sets = labelled_sets(chosen.data)
    models = {}
    for options in models_of(chosen.model):
        answers = asked(options, pairs_to_ask(sets), chosen.work)
        by_map = change(answers, with_found_shares(measure_reference(answers))) if options.model else answers
        models[name_of(options)] = by_map, replace(SOFT if options.model else OWN, version=2, gate=0.8)
    rows = []
    for name, responses in sets.items():
        for model, (answers, reasoner) in models.items():
            found = assess_own(responses, answers, reasoner)
            rows += [[name, model, *counts(found, label, chosen.max_risk, chosen.delta)] for label in AGREES]
    print(markdown_table(("set", "relations", *HEADS), rows))


def counts(found: Sequence[Assessment], label: VerdictLabel, max_risk: float, delta: float) -> list[str]:
    """The cells of a row."""
    sure, wrong = zip(*(sureness_of(one, label) for one in found), strict=True)
    drawn, risks, kept = np.random.default_rng(0), [], []
    for _ in range(SPLITS):
        order = drawn.permutation(len(found))
        ours, others = order[: len(order) // 2], order[len(order) // 2 :]
        points = threshold_curve([sure[place] for place in ours], [wrong[place] for place in ours], max_risk)
        chosen = lowest_threshold([sure[place] for place in ours], points, max_risk, delta)
        if chosen is None:
            continue
        judged = [
            (one >= chosen.threshold, bad) for place in others for one, bad in zip(sure[place], wrong[place], strict=True)
        ]
        standing = [bad for stands, bad in judged if stands]
        risks.append(np.mean(standing) if standing else 0.0)
        kept.append(len(standing) / max(len(judged), 1))
    above = f"{sum(risk > max_risk for risk in risks) / SPLITS:.0%}"
    means = [f"{np.mean(values):.3f}" if values else "" for values in (risks, kept)]
    return [label.value, str(sum(map(len, sure))), str(sum(map(sum, wrong))), str(len(risks)), above, *means]


if __name__ == "__main__":
    main()
