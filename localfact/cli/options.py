"""Options on the command line: made from the fields of `methods/options.py`, and those that commands have besides.

    @options_from(Options)
    def command(options: Options, data: Data = None) -> None: ...

The command gets one object; on the command line each field is an option, with the field's docstring as help.
"""

import inspect
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import typer
from annotated_types import Ge, Le

from localfact.errors import InputError
from localfact.methods.option_group import OptionGroup, check_options, flag_of, flags_of
from localfact.report.console import note
from localfact.report.formats import Format, find_format

Data = Annotated[
    Path | None,
    typer.Option(
        "--data", help="Responses: JSON lines, JSON, CSV, text, or a folder of texts (docs/inputs.md). Default: the sample."
    ),
]
MethodName = Annotated[
    str | None,
    typer.Option("--method", help="See `localfact methods`. Default: localfact with a --model, builtin-fr2 without."),
]
Offline = Annotated[
    bool, typer.Option("--offline", help="Resolve no name and connect to nothing outside this machine.", rich_help_panel="Web")
]
Solver = Annotated[str, typer.Option("--solver", help="How marginals are computed: auto, exact, bp, wmb or pgmpy.")]
EmbedderName = Annotated[str, typer.Option("--embedder", help="Model card, folder of weights, or none (BM25 alone).")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON alone.")]
MaxWords = Annotated[int, typer.Option("--max-words", min=1, help="Refuse longer responses.")]
RecallK = Annotated[str, typer.Option("--recall-k", help="K of R@K and F1@K: median, max, gold or a number.")]
TableFormat = Annotated[
    Format, typer.Option("--format", metavar="<str>", parser=find_format, help="terminal, markdown, latex, csv or json.")
]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Only the first so many rows.")]
Concurrency = Annotated[
    int | None,
    typer.Option(
        "--concurrency",
        min=1,
        help="Rows at work at once. Default: 4; with a language model 32 a replica, or 256 for a row of few calls.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Begin again; what was made is forgotten.")]

Command = Callable[..., None]
#: The parameter by which a command of options knows what was typed, where it has none of its own.
CONTEXT = "typer_context"
#: What cannot be beside an option: a transcript answers in place of a model.
RIVALS: Mapping[str, frozenset[str]] = {
    "replay": frozenset({"model", "transcript"}),
    "model": frozenset({"replay"}),
    "transcript": frozenset({"replay"}),
}
#: What a settings file cannot open alone -> what it does. The file may come with a folder that somebody else made.
OPENING: Mapping[str, str] = {
    "providers": "claims are sent there as search queries",
    "searxng_url": "claims are sent there as search queries",
    "endpoint": "texts are sent there, with the token of your environment",
    "allow_hosts": "pages are fetched from there although it is not public",
    "relations_cache": "is written to",
    "transcript": "is written to",
    "corpus": "pages from the web are added to it",
}
#: The option before all commands by which a user takes from the file what opens something.
TRUST = "trust_settings"
#: The attribute of a command that names the fields it has as options.
_FIELDS = "option_fields"


def options_from(
    group: type[OptionGroup], *parts: type[OptionGroup] | str, without: Collection[str] = ()
) -> Callable[[Command], Command]:
    """Replaces a command's parameter of the type `group` by one option for each field.

    Args:
        group: what the command gets.
        parts: which of its fields the command line has, by group or by name; all when there are none.
        without: fields that it does not have.
    """
    named = [name for part in parts for name in ((part,) if isinstance(part, str) else part.model_fields)]
    fields = [name for name in (named or group.model_fields) if name not in without]

    def decorated(command: Command) -> Command:
        signature = inspect.signature(command)
        (taker,) = (name for name, parameter in signature.parameters.items() if parameter.annotation is group)
        others = [parameter for name, parameter in signature.parameters.items() if name != taker]
        own = next((one.name for one in others if one.annotation is typer.Context), None)
        context = [] if own else [inspect.Parameter(CONTEXT, inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)]

        @wraps(command)
        def run(**typed: Any) -> None:
            given = typed[own] if own else typed.pop(CONTEXT)
            replaced = settings_replaced(given)
            refuse_opening(given, replaced)
            if replaced:
                note(f"Not taken, beside what is typed: {', '.join(sorted(replaced))}.")
            chosen = {name: None if name in replaced else plain(value) for name in fields for value in (typed.pop(name),)}
            named = {name: value for name, value in chosen.items() if value is not None}
            of_file = [name for name in named if _is_of_the_file(given, name)]
            command(**typed, **{taker: check_options(group, named, of_file)})

        setattr(run, _FIELDS, fields_of(command) | set(fields))
        run.__signature__ = signature.replace(parameters=[*others, *context, *(parameter_of(group, name) for name in fields)])  # type: ignore[attr-defined]
        run.__annotations__ = {name: one.annotation for name, one in run.__signature__.parameters.items()}  # type: ignore[attr-defined]
        return run

    return decorated


def fields_of(command: Callable[..., Any]) -> frozenset[str]:
    """The fields of option groups that a command has as options; none where it was not made by `options_from`."""
    return frozenset(getattr(command, _FIELDS, ()))


def names_typed(context: typer.Context) -> set[str]:
    """The names of a command's parameters that were typed, not taken from a default or a file."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"}


def settings_replaced(context: typer.Context) -> set[str]:
    """The options that a settings file gives and that cannot be beside what was typed: what is typed goes before the file."""
    rivals = {rival for name in names_typed(context) & set(RIVALS) for rival in RIVALS[name]}
    return {name for name in rivals if _is_of_the_file(context, name)}


def refuse_opening(context: typer.Context, replaced: Collection[str]) -> None:
    """Refuses what a settings file alone would open; all of it is told at once.

    Args:
        replaced: settings of the file that are not taken.

    Raises:
        InputError: the file gives some, and the user neither typed them nor trusts the file.
    """
    if context.find_root().params.get(TRUST):
        return
    values = context.params
    wanted = [name for name in OPENING if values.get(name) and name not in replaced and _is_of_the_file(context, name)]
    if not values.get("providers"):  # a corpus is read
        wanted = [name for name in wanted if name != "corpus"]
    if wanted:
        shown = {name: ", ".join(values[name]) if isinstance(values[name], list) else values[name] for name in wanted}
        told = "; ".join(f"{name} {value} ({OPENING[name]})" for name, value in shown.items())
        raise InputError(
            f"The settings file opens what only you can open: {told}. Type each as an option, or take all of the file: "
            f"localfact --trust-settings {context.info_name} ... (with --config none in its place, none of it)."
        )


def _is_of_the_file(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "DEFAULT_MAP"


def parameter_of(group: type[OptionGroup], name: str) -> inspect.Parameter:
    """The option of one field, as a parameter for Typer."""
    field, flag = group.model_fields[name], flag_of(group, name)
    default = field.get_default(call_default_factory=True)
    limits: dict[str, Any] = {}
    for mark in field.metadata:
        limits |= {"min": mark.ge} if isinstance(mark, Ge) else {"max": mark.le} if isinstance(mark, Le) else {}
    option = typer.Option(
        *flags_of(group, name),
        help=" ".join((field.description or "").split()),
        rich_help_panel=group.group_of(name).panel,
        metavar=flag.metavar if flag else "|".join(choices_of(field.annotation)) or None,
        **limits,
    )
    kind = parse_type(field.annotation, many=flag is not None and flag.many)
    shown = None if isinstance(default, Collection) and not isinstance(default, str) else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=shown, annotation=Annotated[kind, option])


def parse_type(annotation: Any, *, many: bool = False) -> Any:
    """The type to which Typer parses an option of this annotation.

    bool, int, float and Path are kept, mappings become Path (a file), tuples of texts a list of texts, and everything else
    text, which the option group checks.

    Args:
        annotation: the type of the option group's field.
        many: whether the option may be repeated; it is then a list of texts.
    """
    if many or annotation == tuple[str, ...]:
        return list[str] | None
    for kind in (bool, int, float, Path):
        if annotation is kind:
            return kind
        if annotation == kind | None:
            return kind | None
    if any(isinstance(one, type) and issubclass(one, Mapping) for one in (annotation, *get_args(annotation))):
        return Path | None
    return str | None if type(None) in get_args(annotation) else str


def choices_of(annotation: Any) -> tuple[str, ...]:
    """The values of a closed set of texts; empty for any other type."""
    for kind in (annotation, *get_args(annotation)):
        if get_origin(kind) is Literal:
            return get_args(kind)
    return ()


def plain(value: Any) -> Any:
    """A typed value; for a repeated option that was not given, None."""
    return tuple(value) or None if isinstance(value, list) else value


def format_of(how: Format, as_json: bool) -> Format:
    """The format of a table, by --format or as --json.

    Raises:
        InputError: both were typed, and they differ.
    """
    if as_json and how not in ("terminal", "json"):
        raise InputError(f"--json and --format {how} exclude each other: type one of them.")
    return "json" if as_json else how


def read_text(file: Path, *, lenient: bool = False) -> str:
    """The content of a text file in UTF-8, without a byte order mark.

    Args:
        lenient: line ends stay as they are, and invalid bytes become replacement characters.

    Raises:
        InputError: it cannot be read, or is not UTF-8.
    """
    try:
        return file.read_bytes().decode("utf-8-sig", "replace") if lenient else file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{file} is not UTF-8 text.") from None
