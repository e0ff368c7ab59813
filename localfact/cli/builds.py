"""What builds read of `eval` and `check`: the result as JUnit XML or GitHub's annotations, and a bar that it must reach."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_args

import typer
from rich.console import RenderableType

from localfact.errors import InputError
from localfact.records import Assessment
from localfact.report.bar import BOUNDS_HELP, Bound, Held, hold, measured_of, parse_bounds
from localfact.report.console import BELOW_BAR, note, show, show_text
from localfact.report.summary import Summary

ResultFormat = Literal["terminal", "json", "junit", "github"]
FORMATS: tuple[str, ...] = get_args(ResultFormat)


def find_result_format(name: str) -> ResultFormat:
    """The format of that name.

    Raises:
        InputError: there is none.
    """
    if name not in FORMATS:
        raise InputError(f"There is no format '{name}' of results. There are: {', '.join(FORMATS)}.")
    return cast(ResultFormat, name)


FailUnder = Annotated[
    str | None,
    typer.Option(
        "--fail-under",
        metavar="NAME=N,...",
        help=f"End with exit code 4 where a bound is missed or nothing was scored: precision=0.8,contradicted=0. {BOUNDS_HELP}",
    ),
]
ResultFormatOption = Annotated[
    ResultFormat,
    typer.Option(
        "--format",
        metavar="|".join(FORMATS),
        parser=find_result_format,
        help="junit: XML, a test case a response. github: annotations for a pull request.",
    ),
]


class Build:
    """What a build wants of a result: its format, and the bounds, parsed before anything is assessed.

    Raises:
        InputError: --fail-under or --format cannot be used.
    """

    def __init__(self, how: ResultFormat, as_json: bool, fail_under: str | None) -> None:
        if as_json and how not in ("terminal", "json"):
            raise InputError(f"--json and --format {how} exclude each other: type one of them.")
        self.how: ResultFormat = "json" if as_json else how
        self._bounds: tuple[Bound, ...] = () if fail_under is None else parse_bounds(fail_under)
        self._held: Sequence[Held] = ()

    def show(
        self,
        found: Summary | Assessment,
        view: Callable[[], RenderableType],
        assessments: Callable[[], Iterable[Assessment]],
        data: Path | None,
        *,
        seconds: Mapping[int, Mapping[str, float]] | None = None,
    ) -> None:
        """Prints a result in its format.

        Args:
            found: the result. view: draws it.
            assessments: of its responses.
            data: where they were read, for annotations; None for standard input and the sample.
            seconds: what each response took, for JUnit.
        """
        self._held = hold(self._bounds, measured_of(found if isinstance(found, Summary) else [found]))
        if self.how == "junit":
            from localfact.integrations.junit import junit_xml

            show_text(junit_xml(assessments(), self._held, seconds))
        elif self.how == "github":
            from localfact.integrations.github import annotations, places_in, places_in_text

            places = places_in(data) if isinstance(found, Summary) or data is None else places_in_text(data)
            show_text("".join(f"{line}\n" for line in annotations(assessments(), self._held, places)))
        else:
            plain: dict[str, Any] = found.model_dump(mode="json")
            show(plain, as_json=self.how == "json", view=lambda _: view())

    def end(self, found: Summary | Assessment) -> None:
        """Says how the result stands to the bar, if there is one, and ends with exit code 4 below it."""
        if not self._held:
            return
        if isinstance(found, Summary) and (bare := found.responses_abstained + found.responses_unscored):
            note(f"{bare} of {found.responses} responses state nothing that was judged: they are in no score.")
        missed = [one.said for one in self._held if not one.passed]
        if missed:
            note(f"Below the bar: {'; '.join(missed)}.")
            raise typer.Exit(BELOW_BAR)
        note(f"The bar is reached: {'; '.join(one.said for one in self._held)}.")
