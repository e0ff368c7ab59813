"""Fits the lexical relation model: writes lexical.json and idf.txt of localfact/relations/lexical/ from public data sets.

    python -m scripts.training.fit_lexical DATA

Minutes on two cores, most of them for embedding. The same data give the same files.
"""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from localfact.models.cards import load_card
from localfact.models.embedder import Embedder, load_embedder
from localfact.records import Pair
from localfact.relations.lexical.features import Features, compare
from localfact.relations.lexical.model import (
    COEFFICIENTS_FILE,
    IDF_FILE,
    LABELS,
    LexicalRelationModel,
    Similarity,
    similarity_features,
)
from localfact.relations.lexical.statements import IdfTable, ParsedClaim, Premise
from localfact.relations.lexical.tokens import tokens
from scripts.training.lexical_edits import EditRules
from scripts.training.lexical_pairs import LICENCES, LONGEST_PREMISE, Example, is_held_out, read_examples
from scripts.training.relation_model.evidence_sets import evidence_sets
from scripts.training.relation_model.examples import Part, split_by_topic, topic_key
from scripts.training.relation_model.sentence_sets import sentence_sets


class Group(NamedTuple):
    """How much a group of pairs counts in the fit, whatever its size, and what it holds."""

    mass: float
    content: str


#: How much each group counts in the fit, whatever its size. At use a claim meets web and encyclopedia passages and mostly ones
#: that do not speak to it, so sets of that kind weigh most; among them false claims are rare, so the rules make up for them.
GROUPS = {
    "factcheck_gpt": Group(0.22, "claim and one web snippet"),
    "factcheck_gpt_partial": Group(0.04, "the same, partly supported: neutral"),
    "factcheck_gpt_joined": Group(0.10, "claim and all its snippets as one passage"),
    "factcheck_gpt_answers": Group(0.10, "claim and the corrected answer, alone or amid irrelevant snippets"),
    "factcheck_gpt_answers_elsewhere": Group(0.05, "claim and that answer without the claim's sentence: neutral"),
    "wice_supported": Group(0.05, "claim and a passage of its page with the supporting sentences"),
    "wice_partly": Group(0.04, "the same, partly supported: neutral"),
    "wice_elsewhere": Group(0.05, "claim and a passage of its page without them: neutral"),
    "rule_detail": Group(0.10, "entailed claim with a number, month or name exchanged: contradiction"),
    "rule_subject": Group(0.05, "entailed claim with its subject exchanged: neutral"),
    "rule_negation": Group(0.03, "entailed claim negated: contradiction"),
    "rule_word": Group(0.04, "entailed claim with a common word exchanged: neutral"),
    "rule_sentence": Group(0.04, "sentence of a passage and that passage: entailment"),
    "rule_sentence_detail": Group(0.04, "the same with a number, month or name exchanged: contradiction"),
    "rule_sentence_elsewhere": Group(0.04, "sentence of another passage of the topic: neutral"),
    "snli": Group(0.04, "sentence pairs"),
    "cad": Group(0.04, "sentence pairs, counterfactually edited"),
    "mnli": Group(0.06, "sentence pairs"),
    "conjnli": Group(0.03, "sentence pairs that differ in a conjunction"),
}
#: Weight of the squared coefficients, of standardised features, beside the mean log loss.
L2 = 1e-4
MOST_ITERATIONS = 5_000
#: A word is listed if so many texts have it; a text is a short premise, or so many sentences of a longer one.
FEWEST_TEXTS = 4
LINES_OF_A_TEXT = 5
LONG_TEXT = 1_000
CALIBRATION_BINS = 10
DECIMALS = 6

Matrix = NDArray[np.float64]
Flags = NDArray[np.bool_]


def main(data: Path) -> None:
    examples = read_examples(data)
    examples += EditRules(examples).edited(examples)
    held_out = np.array(is_held_out(examples, reserved_topics(data)))
    fitted_on = [example for example, out in zip(examples, held_out, strict=True) if not out]
    write_idf(fitted_on)
    embedder = load_embedder(load_card("minilm"))
    plain = feature_matrix(examples, IdfTable.read(IDF_FILE))
    full = np.hstack([plain, similarity_matrix(examples, embedder)])
    names = Features._fields
    variants = {
        "plain": fit_and_measure(examples, held_out, plain, names),
        "embedder": {"embedder": embedder.identity} | fit_and_measure(examples, held_out, full, names + Similarity._fields),
    }
    document = {"about": about(examples, held_out), "variants": variants}
    COEFFICIENTS_FILE.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    for model_embedder in (None, embedder):
        print(json.dumps(example_biography(data, model_embedder), indent=1))


def reserved_topics(data: Path) -> frozenset[str]:
    """The topics that relation models are measured on, or chosen by, and none of ours learns from."""
    parts = split_by_topic([*sentence_sets(data), *evidence_sets(data)])
    kept = (*parts[Part.TEST], *parts[Part.DEVELOPMENT])
    return frozenset(topic_key(topic) for example in kept for topic in example.topics)


def write_idf(examples: Sequence[Example]) -> None:
    """Counts in how many texts each stem occurs, and keeps those that occur in many."""
    texts: dict[str, None] = {}
    for premise in dict.fromkeys(example.premise for example in examples):
        lines = premise.split("\n") if len(premise) > LONG_TEXT else [premise]
        texts |= dict.fromkeys("\n".join(lines[i : i + LINES_OF_A_TEXT]) for i in range(0, len(lines), LINES_OF_A_TEXT))
    counts = Counter(stem for text in texts for stem in {token.stem for token in tokens(text)})
    rows = sorted(f"{stem} {count}" for stem, count in counts.items() if count >= FEWEST_TEXTS)
    IDF_FILE.write_text("\n".join([f"documents {len(texts)}", *rows]) + "\n", encoding="utf-8")


def feature_matrix(examples: Sequence[Example], idf: IdfTable) -> Matrix:
    """One row an example, one column a field of Features."""
    premises = {text: Premise(text) for text in dict.fromkeys(example.premise for example in examples)}
    return np.array([compare(ParsedClaim(example.hypothesis, idf), premises[example.premise]) for example in examples])


def similarity_matrix(examples: Sequence[Example], embedder: Embedder) -> Matrix:
    """One row an example, one column a field of Similarity."""
    texts = dict.fromkeys(text for example in examples for text in (example.premise, example.hypothesis))
    parts = {text: embedder.parts(text) for text in texts}
    embedder.encode(list(dict.fromkeys(part for several in parts.values() for part in several)))  # all at once is faster
    vectors = {text: embedder.encode(several) for text, several in parts.items()}
    return np.array([similarity_features(vectors[example.premise], vectors[example.hypothesis]) for example in examples])


def fit_and_measure(examples: Sequence[Example], held_out: Flags, features: Matrix, names: Sequence[str]) -> dict[str, Any]:
    """The coefficients of one variant, and how it does on the held-out topics of each group."""
    gold = np.array([LABELS.index(example.label) for example in examples])
    sizes = Counter(example.group for example, out in zip(examples, held_out, strict=True) if not out)
    weights = np.array([GROUPS[example.group].mass / sizes[example.group] for example in examples])
    coefficients = fit(features[~held_out], gold[~held_out], weights[~held_out]).round(DECIMALS)
    probabilities = softmax(features @ coefficients[:-1] + coefficients[-1], axis=1)
    groups = np.array([example.group for example in examples])
    rows = {name: list(row) for name, row in zip((*names, "intercept"), coefficients.tolist(), strict=True)}
    labelled_passages = np.char.startswith(groups, "factcheck_gpt") | np.char.startswith(groups, "wice")
    parts = {"labelled_passages": held_out & labelled_passages}
    parts |= {group: held_out & (groups == group) for group in GROUPS}
    measured = {name: measures(probabilities[part], gold[part]) for name, part in parts.items()}
    log_loss = -np.log(probabilities[np.arange(len(gold)), gold])
    overall = {
        "log_loss_weighted": round(float(np.average(log_loss[held_out], weights=weights[held_out])), 4),
        "log_loss_weighted_fitted_part": round(float(np.average(log_loss[~held_out], weights=weights[~held_out])), 4),
    }
    return {"coefficients": rows, "held_out": overall | measured}


def fit(features: Matrix, gold: NDArray[np.int_], weights: Matrix) -> Matrix:
    """Multinomial logistic regression with an L2 penalty, by L-BFGS: (features + 1, labels), the intercept last.

    Standardised for the fit; the coefficients returned are for the features as they are.
    """
    mean, spread = features.mean(axis=0), features.std(axis=0)
    spread[spread == 0] = 1.0
    inputs = np.column_stack([(features - mean) / spread, np.ones(len(features))])
    share = weights / weights.sum()
    target = np.eye(len(LABELS))[gold]
    penalised = np.ones((inputs.shape[1], 1))
    penalised[-1] = 0.0

    def loss(flat: Matrix) -> tuple[float, Matrix]:
        coefficients = flat.reshape(-1, len(LABELS))
        log_probabilities = log_softmax(inputs @ coefficients, axis=1)
        error = share[:, None] * (np.exp(log_probabilities) - target)
        value = -(share[:, None] * target * log_probabilities).sum() + L2 * (penalised * coefficients**2).sum()
        return value, (inputs.T @ error + 2 * L2 * penalised * coefficients).ravel()

    start = np.zeros(inputs.shape[1] * len(LABELS))
    solution = minimize(
        loss, start, jac=True, method="L-BFGS-B", options={"maxiter": MOST_ITERATIONS, "maxfun": MOST_ITERATIONS}
    )
    standardised = solution.x.reshape(-1, len(LABELS))
    slopes = standardised[:-1] / spread[:, None]
    return np.vstack([slopes, standardised[-1] - mean @ slopes])


def measures(probabilities: Matrix, gold: NDArray[np.int_]) -> dict[str, Any]:
    """Accuracy beside that of always saying the commonest label, macro F1 over the labels that occur, calibration error."""
    said = probabilities.argmax(axis=1)
    counts = np.bincount(gold, minlength=len(LABELS))
    f1 = [2 * np.sum((said == k) & (gold == k)) / (np.sum(said == k) + counts[k]) for k in range(len(LABELS)) if counts[k]]
    return {
        "pairs": len(gold),
        "majority": round(float(counts.max() / len(gold)), 4),
        "accuracy": round(float(np.mean(said == gold)), 4),
        "macro_f1": round(float(np.mean(f1)), 4),
        "calibration_error": round(calibration_error(probabilities.max(axis=1), said == gold), 4),
        "gold": counts.tolist(),
        "said": np.bincount(said, minlength=len(LABELS)).tolist(),
        "contradiction_above_entailment": round(float(np.mean(probabilities[:, 1] > probabilities[:, 0])), 4),
    }


def calibration_error(confidence: Matrix, correct: Flags) -> float:
    """Expected calibration error, bins of equal count."""
    order = np.argsort(confidence, kind="stable")
    bins = [chosen for chosen in np.array_split(order, CALIBRATION_BINS) if len(chosen)]
    return float(sum(len(chosen) * abs(confidence[chosen].mean() - correct[chosen].mean()) for chosen in bins) / len(order))


def about(examples: Sequence[Example], held_out: Flags) -> dict[str, Any]:
    """What the coefficients were fitted on, in words and counts."""
    fitted = Counter(example.group for example, out in zip(examples, held_out, strict=True) if not out)
    return {
        "made_by": "scripts/training/fit_lexical.py",
        "labels": [str(label) for label in LABELS],
        "data": LICENCES,
        "split": "by topic (premise, prompt of the claim, page); held out are those that no relation model of ours learns from",
        "longest_premise": f"{LONGEST_PREMISE} characters",
        "groups": {name: group._asdict() | {"pairs_fitted": fitted[name]} for name, group in GROUPS.items()},
        "idf": f"stems in at least {FEWEST_TEXTS} of the premises of the fitted part, counted only",
    }


def example_biography(data: Path, embedder: Embedder | None) -> Mapping[str, Any]:
    """A look, never a fit: the labelled biography's atoms that some context of it entails, against their labels."""
    biography = json.loads((data / "flaherty/flaherty_wikipedia.json").read_text(encoding="utf-8"))
    contexts = list(dict.fromkeys(context["text"] for context in biography["contexts"]))
    model = LexicalRelationModel(embedder)
    said = Counter[str]()
    for atom in biography["atoms"]:
        relations = asyncio.run(model.relate([Pair(text, atom["text"]) for text in contexts]))
        best = max(relations, key=lambda relation: relation.entailment)
        entailed = any(relation.label == "entailment" for relation in relations)
        said[f"{atom['label']} {'entailed' if entailed else 'not entailed'}"] += 1
        print(f"{atom['label']:2} {best.entailment:.2f} {max(r.contradiction for r in relations):.2f} {atom['text']}")
    return {"model": model.identity} | dict(sorted(said.items()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
