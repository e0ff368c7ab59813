"""Whose pages claims were judged by, in words: the user's, the sample's, those the web gave, or what came with the texts."""

from collections.abc import Iterable

from localfact.records import Assessment, Passage

#: Who provided passages that came with the texts, and pages that a user had.
WITH_TEXTS, OWN = "input", ("", "local")


def tell_pages(assessments: Iterable[Assessment], of_sample: bool = False) -> str:
    """Whose the passages of these assessments are: "your pages", "the passages that came with the texts".

    Args:
        assessments: whole, or in outline. of_sample: whether the corpus is the one that comes with localfact.
    """
    providers = {passage.provider for assessment in assessments for passage in assessment.passages}
    own = "the sample's pages" if of_sample else "your pages"
    named = {own: providers & set(OWN), "the web pages found": providers - {WITH_TEXTS, *OWN}}
    named["the passages that came with the texts"] = providers & {WITH_TEXTS}
    return " and ".join(words for words, found in named.items() if found) or (own if of_sample else "any page")


def tell_provider(passage: Passage) -> str:
    """Where a passage is from, where its address does not say it: "came with the text", "found by wikipedia"; else ""."""
    if passage.provider == WITH_TEXTS:
        return "came with the text"
    return "" if passage.provider in OWN else f"found by {passage.provider}"
