"""Reads a fact graph from a JSON file: our own schema, or the nodes and edges of IBM's FactReasoner.

The whole file is checked before it becomes a FactorGraph; every error is a GraphError that names the file and the problem.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from localfact.errors import GraphError
from localfact.inference.factor_graph import PASSAGE_PRIOR, FactorGraph, build_graph
from localfact.inference.tables import TABLE_SETS
from localfact.records import Relation
from localfact.vocabulary import RelationLabel

#: The most characters of a faulty value in a message.
SHOWN_CHARACTERS = 80

#: The texts that identify a node (2) or a relation (3), and its probability, not checked yet.
_Row = tuple[tuple[Any, ...], Any]


def read_graph(path: Path) -> FactorGraph:
    """Reads one graph.

    Our schema: `atoms` and `contexts` map ids to priors; `relations` lists `source`, `target`, `type` and `probability`.
    IBM's: `nodes` lists `id`, `type` (atom or context) and `probability`; `edges` lists `from`, `to`, `relation` and
    `probability`. In both, `variant` names the tables, "paper" where it is absent, and `passage_prior` is theirs (see
    `build_graph`); other keys are passed over. Probabilities are kept as they are, 0 and 1 included.

    Raises:
        GraphError: the file cannot be read, is no JSON object, lacks a part, names an id twice or an unknown one, has a
            relation of an unknown type or of a node with itself, or a probability that is not a number in [0, 1].
    """
    try:
        return parse_graph(json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=_object))
    except OSError as error:
        raise GraphError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise GraphError(f"{path} is not JSON: {error}.") from None
    except GraphError as error:
        raise GraphError(f"{path}: {error}") from None


def _object(items: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object as a dictionary; a key that stands twice is an error, where json would keep the last."""
    content = dict(items)
    if len(content) < len(items):
        keys = [key for key, _ in items]
        twice = next(key for key, count in Counter(keys).items() if count > 1)
        raise GraphError(f"{_shorten(twice)} stands twice in one object; every id may be given once.")
    return content


def parse_graph(content: object) -> FactorGraph:
    """`read_graph` for the content of a file.

    Raises:
        GraphError: as there, without the name of a file.
    """
    if not isinstance(content, dict):
        raise GraphError("the file must hold one JSON object.")
    variant = content.get("variant", "paper")
    if variant not in TABLE_SETS:
        raise GraphError(f"the variant {_shorten(variant)} is unknown; known are {', '.join(TABLE_SETS)}.")
    if "nodes" in content:
        nodes = _rows(content, "nodes", ("id", "type"))
        rows = _rows(content, "edges", ("from", "to", "relation"))
    else:
        nodes = [*_read_nodes(content, "atoms", "atom"), *_read_nodes(content, "contexts", "context")]
        rows = _rows(content, "relations", ("source", "target", "type"))
    atoms, contexts = _priors(nodes)
    passage_prior = _probability(content.get("passage_prior", PASSAGE_PRIOR), "the passage_prior")
    return build_graph(atoms, contexts, _relations(rows, {**atoms, **contexts}), tables=variant, passage_prior=passage_prior)


def _read_nodes(content: Mapping[str, Any], part: str, kind: str) -> Iterable[_Row]:
    """The nodes of our own schema, as rows of (id, kind) and prior."""
    nodes = content.get(part)
    if not isinstance(nodes, dict):
        raise GraphError(f"'{part}' must be an object of ids and priors.")
    return [((identity, kind), prior) for identity, prior in nodes.items()]


def _rows(content: Mapping[str, Any], part: str, keys: tuple[str, ...]) -> list[_Row]:
    """A list of objects, as rows of the texts under `keys` and the probability, which is not checked yet."""
    rows = content.get(part)
    if not isinstance(rows, list):
        raise GraphError(f"'{part}' must be a list of objects.")
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict) or not all(isinstance(row.get(key), str) for key in keys):
            raise GraphError(f"entry {number} of '{part}' must be an object with the texts {', '.join(keys)}: {_shorten(row)}.")
    return [(tuple(row[key] for key in keys), row.get("probability")) for row in rows]


def _priors(nodes: Iterable[_Row]) -> tuple[dict[str, float], dict[str, float]]:
    """The priors of atoms and of contexts by id."""
    priors: dict[str, dict[str, float]] = {"atom": {}, "context": {}}
    for (identity, kind), prior in nodes:
        if kind not in priors:
            raise GraphError(f"{_shorten(identity)} has the unknown type {_shorten(kind)}; known are {', '.join(priors)}.")
        if any(identity in known for known in priors.values()):
            raise GraphError(f"the id {_shorten(identity)} stands twice; every atom and context needs an id of its own.")
        priors[kind][identity] = _probability(prior, f"the prior of {_shorten(identity)}")
    return priors["atom"], priors["context"]


def _relations(rows: Iterable[_Row], known: Mapping[str, float]) -> list[Relation]:
    relations = []
    for number, ((source, target, label), probability) in enumerate(rows, start=1):
        for identity in (source, target):
            if identity not in known:
                raise GraphError(f"relation {number} names {_shorten(identity)}, which is neither an atom nor a context.")
        if source == target:
            raise GraphError(f"relation {number} relates {_shorten(source)} to itself.")
        if label not in list(RelationLabel):
            raise GraphError(f"relation {number} has the unknown type {_shorten(label)}; known are {', '.join(RelationLabel)}.")
        checked = _probability(probability, f"the probability of relation {number}")
        relations.append(Relation(source=source, target=target, label=RelationLabel(label), probability=checked))
    return relations


def _probability(value: object, name: str) -> float:
    # A bool is an int to Python, and NaN compares false with everything.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise GraphError(f"{name} must be a number from 0 to 1, not {_shorten(value)}.")
    return float(value)


def _shorten(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."
