"""pytest: the fixture `factuality`, whose `assert_supported` fails a test by the claim, the sentence and the source.

pytest loads this file with every run (entry point group `pytest11`), so nothing of localfact is loaded before an assertion.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from localfact.inputs.json_rows import Row
    from localfact.methods.options import Options
    from localfact.records import Assessment
    from localfact.report.bar import Bound


class FactualityAssertions:
    """Checks texts in a test. Models are loaded at the first assertion and stay for the others of the process."""

    def assert_supported(
        self,
        text: str,
        passages: "Sequence[str | Row] | None" = None,
        corpus: str | Path | None = None,
        *,
        min_precision: float = 1.0,
        max_contradicted: int = 0,
        topic: str | None = None,
        prompt: str | None = None,
        method: str | None = None,
        options: "Options | None" = None,
    ) -> "Assessment":
        """Returns the assessment of a text whose claims the evidence supports.

        Args:
            text: what a model wrote, say.
            passages: what it is held against: texts, or mappings with "text" and perhaps "title" and "link".
            corpus: or a folder of pages, from `localfact corpus build`.
            min_precision: the least share of supported claims among those that were judged, in [0, 1].
            max_contradicted: how many claims may be contradicted.
            topic, prompt, method, options: as of `localfact.check`.

        Raises:
            AssertionError: too few claims are supported, too many contradicted, one could not be judged, or there is none.
            LocalFactError: the evidence, a bound or an option cannot be used.
        """
        __tracebackhide__ = True
        bounds = _bounds(min_precision, max_contradicted)
        assessment = _check(text, passages, corpus, topic=topic, prompt=prompt, method=method, options=options)
        wrong = _problems(assessment, bounds)
        if wrong:
            raise AssertionError(wrong)
        return assessment


@pytest.fixture(scope="session")
def factuality() -> FactualityAssertions:
    """Holds what a model wrote against passages or a corpus: `factuality.assert_supported(text, passages=[...])`."""
    return FactualityAssertions()


def _check(
    text: str, passages: "Sequence[str | Row] | None", corpus: str | Path | None, *, options: "Options | None", **said: Any
) -> "Assessment":
    __tracebackhide__ = True
    from localfact.api.check import check
    from localfact.errors import InputError
    from localfact.methods.options import Options

    options = options or Options()
    if corpus is not None:
        options = options.model_copy(update={"corpus": Path(corpus)})
    if passages is None and options.corpus is None and not options.live:
        raise InputError("assert_supported holds a text against passages=[...] or corpus=DIR: name one of them.")
    if passages is not None and (options.corpus is not None or options.live):
        raise InputError("assert_supported holds a text against passages or against a corpus: name one of them, not both.")
    if isinstance(passages, str):
        raise InputError('passages is a list: passages=["..."].')
    row: Row = {"response": text} if passages is None else {"response": text, "passages": list(passages)}
    return check(row, options=options, **said)


def _bounds(min_precision: float, max_contradicted: int) -> "Sequence[Bound]":
    __tracebackhide__ = True
    from localfact.report.bar import make_bound

    return (
        make_bound("contradicted", max_contradicted, f"max_contradicted cannot be {max_contradicted}"),
        make_bound("precision", min_precision, f"min_precision cannot be {min_precision}"),
        make_bound("failed", 0, "failed"),
    )


def _problems(assessment: "Assessment", bounds: "Sequence[Bound]") -> str:
    """Why the test fails, in lines that a terminal shows as they are; "" where it passes."""
    from localfact.report.bar import hold, measured_of
    from localfact.report.console import escape_unseen
    from localfact.report.plain_findings import describe_all, failed_claims, not_supported, unjudged_because

    held = {one.bound.name: one for one in hold(bounds, measured_of([assessment]))}
    if all(one.passed for one in held.values()):
        return ""
    missed = [f"{one.said}." for one in held.values() if not one.passed]
    because = unjudged_because(assessment)
    lines = [because] if because is not None else [" ".join(missed), f"{assessment.headline}."]
    for heading, claims, shown in (
        ("Contradicted:", assessment.contradicted, True),
        ("Not supported:", not_supported(assessment), not held["precision"].passed),
        ("Not judged:", failed_claims(assessment), True),
    ):
        if claims and shown:
            lines += [heading, describe_all(claims)]
    return escape_unseen("\n".join(lines))
