"""Converts rows of the data sets into rows of our schema: a function for each, which yields one row, several, or none."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from localfact.inputs.json_rows import Row

#: A row in our schema, and the type of a function that converts a row of a data set.
Made = dict[str, Any]
Convert = Callable[[Row], Iterator[Made]]


def _plain(text: str) -> str:
    """Text with breaks of HTML as spaces."""
    return " ".join(re.sub(r"<br\s*/?>", " ", text).split())


def _make_claim(text: str, true: bool | None, passages: Sequence[str] = ()) -> Made:
    """A claim; None leaves it unlabelled. `passages`: the ids of those that were found for it."""
    label = {} if true is None else {"label": "S" if true else "NS"}
    return {"text": text, **label, **({"passages": list(passages)} if passages else {})}


def factscore(row: Row) -> Iterator[Made]:
    """FActScore's biographies: the facts of annotators, S and NS; IR and sentences without facts are left out."""
    facts = [fact for part in row["annotations"] or () for fact in part.get("human-atomic-facts") or ()]
    claims = [_make_claim(fact["text"], fact["label"] == "S") for fact in facts if fact["label"] in ("S", "NS")]
    if claims:
        prompt = row["input"].removeprefix("Question: ")
        yield {"prompt": prompt, "topic": row.get("topic"), "response": row["output"], "claims": claims}


def with_atoms(row: Row) -> Iterator[Made]:
    """IBM's schema: atoms with labels, and contexts."""
    contexts = [
        {name: context[name] for name in ("id", "title", "link", "text", "snippet") if context.get(name)}
        for context in row["contexts"]
    ]
    claims = [
        _make_claim(atom["text"], {"S": True, "NS": False}.get(atom.get("label")), atom.get("contexts") or ())
        for atom in row["atoms"]
    ]
    yield {"prompt": row["input"], "topic": row.get("topic"), "response": row["output"], "claims": claims, "passages": contexts}


def read_answer(row: Row) -> Iterator[Made]:
    """An answer to a question, without labels."""
    yield {
        "prompt": row["question"],
        "response": row["response"],
        "source": row.get("prompt_source"),
        "model": row.get("model"),
    }


def factbench(row: Row) -> Iterator[Made]:
    """Factcheck-GPT's bench of claims; an unknown label is none."""
    pairs = zip(row["claims"], row["claim_labels"], strict=True)
    claims = [_make_claim(text, label if isinstance(label, bool) else None) for text, label in pairs]
    yield {"prompt": row["prompt"], "response": row["response"], "source": row["source"], "claims": claims}


def felm(row: Row) -> Iterator[Made]:
    """FELM's segments as claims, of the domains that state facts; arithmetic and reasoning are left out."""
    if row["domain"] in ("wk", "science", "writing_rec"):
        pairs = zip(row["segmented_response"], row["labels"], strict=True)
        claims = [_make_claim(text, label if isinstance(label, bool) else None) for text, label in pairs if text.strip()]
        yield {"prompt": row["prompt"], "response": row["response"], "source": row["domain"], "claims": claims}


def expertqa(row: Row) -> Iterator[Made]:
    """ExpertQA's answers: sentences that an expert called definitely or probably correct, or incorrect, and what they cite."""
    for system, answer in row["answers"].items():
        passages: list[Made] = []
        claims = []
        for part in answer["claims"]:
            correct = (part.get("correctness") or "").casefold()
            ids = [f"p{len(passages) + place}" for place in range(len(part["evidence"]))]
            passages += [{"id": name, "text": text} for name, text in zip(ids, part["evidence"], strict=True)]
            true = None if correct in ("", "unsure") else "incorrect" not in correct
            claims.append(_make_claim(part["claim_string"], true, ids))
        if claims:
            text = answer["answer_string"]
            yield {"prompt": row["question"], "response": text, "model": system, "claims": claims, "passages": passages}


def conflictbank(row: Row) -> Iterator[Made]:
    """FactReasoner's Conflicts: a true claim, a passage that supports it, one that conflicts with it (section 4, Table 5)."""
    against = row.get("misinformation_conflict_evidence_evidence") or row["misinformation_conflict_evidence"]
    yield {
        "prompt": row.get("question"),
        "response": row["default_claim"],
        "claims": [_make_claim(row["default_claim"], True, ("for", "against"))],
        "passages": [{"id": "for", "text": row["default_evidence"]}, {"id": "against", "text": against}],
    }


def wikicontradict(row: Row) -> Iterator[Made]:
    """WikiContradict: two answers of two passages of Wikipedia that contradict one another; neither is labelled."""
    passages = [{"id": f"context{place}", "text": row[f"context{place}"]} for place in (1, 2)]
    claims = [_make_claim(row[f"answer{place}_self_contained"], None, ("context1", "context2")) for place in (1, 2)]
    text = " ".join(claim["text"] for claim in claims)
    yield {"prompt": row["question"], "response": text, "claims": claims, "passages": passages}


def conflict_nq(row: Row) -> Iterator[Made]:
    """ConflictNQ: the real answer and the made-up one, with the passages of both sides for each."""
    passages = [
        {"id": f"{side}-{place}", "text": passage["passage"]}
        for side in ("real", "fake")
        for place, passage in enumerate(row[f"{side}_passages"])
    ]
    ids = [passage["id"] for passage in passages]
    claims = [_make_claim(row["real_answer"], True, ids), _make_claim(row["fake_answer"], False, ids)]
    text = " ".join(claim["text"] for claim in claims)
    yield {"prompt": row["cleaned_question"], "response": text, "claims": claims, "passages": passages}


def averitec(row: Row) -> Iterator[Made]:
    """AVeriTeC's claims, each with the answers that fact checkers found; one that the evidence leaves open has no label."""
    passages = [
        {
            "id": f"p{number}-{place}",
            "title": part["question"],
            "text": answer["answer"],
            "link": answer.get("source_url") or "",
        }
        for number, part in enumerate(row["questions"])
        for place, answer in enumerate(part["answers"])
        if answer.get("answer")
    ]
    true = {"Supported": True, "Refuted": False}.get(row["label"])
    claims = [_make_claim(row["claim"], true, [passage["id"] for passage in passages])]
    yield {"response": row["claim"], "source": row["label"], "claims": claims, "passages": passages}


def conformal(row: Row) -> Iterator[Made]:
    """The sub-claims of Mohri and Hashimoto, Y and N; what annotators found subjective, or could not tell, has no label."""
    claims = [_make_claim(part["subclaim"], {"Y": True, "N": False}.get(part["annotation"])) for part in row["claims"]]
    text = row.get("original-output") or " ".join(claim["text"] for claim in claims)
    yield {"prompt": row["prompt"].strip(), "response": text, "claims": claims}


def wice(row: Row) -> Iterator[Made]:
    """WiCE's claims and the pages that they cite; supported in part is not supported."""
    if isinstance(row["evidence"], str):
        raise TypeError("the evidence is a list of sentences")
    page = {"id": "page", "title": row["meta"]["claim_title"], "text": "\n".join(row["evidence"])}
    claims = [_make_claim(row["claim"], row["label"] == "supported", ("page",))]
    yield {"topic": page["title"], "response": row["claim"], "claims": claims, "passages": [page]}


def of_forum(history: bool) -> Convert:
    """The questions of Xu et al. 2023 of one forum: AskHistorians' are those of history, ELI5's all others."""

    def convert(row: Row) -> Iterator[Made]:
        if row["domain"].startswith("History") == history:
            yield {"prompt": _plain(row["question_text"]), "topic": row["domain"]}

    return convert


def books(row: Row) -> Iterator[Made]:
    """FreshBooks' paragraphs, to be continued."""
    paragraph = next((row[name] for name in ("paragraph", "prompt", "text") if row.get(name)), None)
    if paragraph is not None:
        yield {"prompt": paragraph}


def longfact(row: Row) -> Iterator[Made]:
    """LongFact's prompts; the canary stays behind."""
    yield {"prompt": row["prompt"], "topic": row["topic"]}


#: Name of a data set -> the function that converts its rows.
CONVERTERS: Mapping[str, Convert] = {
    "biographies": factscore,
    "atoms": with_atoms,
    "fastfact-bench": read_answer,
    "factbench": factbench,
    "felm": felm,
    "expertqa": expertqa,
    "conflicts": conflictbank,
    "wikicontradict": wikicontradict,
    "conflict-nq": conflict_nq,
    "averitec": averitec,
    "conformal": conformal,
    "wice": wice,
    "askhistorians": of_forum(history=True),
    "eli5": of_forum(history=False),
    "freshbooks": books,
    "longfact-objects": longfact,
}
