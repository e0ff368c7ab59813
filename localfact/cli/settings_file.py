"""localfact.yaml: what a project always types, written once. `localfact init` makes it, with every setting explained.

A setting is named as the option is, with underscores, and as in run.yaml and Python. What is typed on the command line goes
before the file. Only the file of the current folder is read, and what was taken from it is told. What opens something (a server
that texts are sent to, an address that is not public, a file that is written) is typed, or the file is trusted: see `OPENING`.
"""

import difflib
import inspect
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
import yaml
from annotated_types import Ge
from pydantic import TypeAdapter, ValidationError

from localfact.cli.options import AsJson, Concurrency, Data, MaxWords, MethodName, Offline, RecallK, choices_of, fields_of
from localfact.errors import InputError
from localfact.inputs.responses import MAX_WORDS
from localfact.methods.option_group import UnusedSetting, check_options, flags_of
from localfact.methods.options import Options
from localfact.report.console import note, show
from localfact.runtime.files import write_file
from localfact.runtime.plain_yaml import read_yaml_file

SETTINGS_FILE = Path("localfact.yaml")
#: What may be typed for --config where no file shall be read.
NO_FILE = "none"
#: Settings besides those of methods: how each is an option of a command, and its default. See `Options` for the others.
OF_COMMANDS: Mapping[str, tuple[Any, Any]] = {
    "data": (Data, None),
    "method": (MethodName, None),
    "recall_k": (RecallK, "median"),
    "max_words": (MaxWords, MAX_WORDS),
    "concurrency": (Concurrency, None),
    "offline": (Offline, False),
}
#: Commands for which data may mean another thing, or nothing: there it is typed.
WITHOUT_DATA = frozenset({"compare", "generate", "choose", "roc"})
#: Arguments of vLLM that a file may give: how large and how fast. Others can name code, classes or folders, and are typed.
ENGINE_ARGUMENTS = frozenset({
    "block_size", "cpu_offload_gb", "dtype", "enable_chunked_prefill", "enable_prefix_caching", "enforce_eager",
    "gpu_memory_utilization", "kv_cache_dtype", "kv_cache_memory_bytes", "max_model_len", "max_num_batched_tokens",
    "max_num_seqs", "pipeline_parallel_size", "quantization", "seed", "swap_space", "tensor_parallel_size",
})  # fmt: skip
#: Settings that are texts, of which YAML makes dates and numbers.
TEXTS = frozenset({"before", "recall_k"})
WIDTH = 100
#: Characters of a wrong value that are shown.
SHOWN = 100

Commands = Mapping[str, Callable[..., Any]]


def init(
    out: Annotated[Path, typer.Option("--out", help="The file.")] = SETTINGS_FILE,
    force: Annotated[bool, typer.Option("--force", help="Replace the file that is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write localfact.yaml, in which every setting is explained; commands in this folder then read it.

    All settings are comments at first: take the # away from those that you always want. What is typed goes before the file.

    [dim]localfact init[/]
    [dim]localfact --config none eval[/]          without the file
    [dim]localfact --config big.yaml eval[/]      with another
    """
    if out.exists() and not force:
        raise InputError(f"{out} is there already. Begin it anew with --force, or name another file with --out.")
    write_file(out, [write_commented().encode()])
    if as_json:
        show({"settings": str(out)}, as_json=True)
    else:
        note(f"{out} has every setting as a comment: take the # away from those that you always want.")


def read_settings(file: Path) -> dict[str, Any]:
    """Reads a settings file: name -> value as the option takes it; a name without a value is left out.

    Raises:
        InputError: it cannot be read, or names a setting that there is not, or a value that it cannot have.
    """
    try:
        found = read_yaml_file(file)
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise InputError(f"{file} is not YAML: {' '.join(str(error).split()).rstrip('.')}.") from None
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise InputError(f"{file} should hold one 'setting: value' a line. `localfact init --out FILE` writes all of them.")
    for name in found:
        if name not in OF_COMMANDS and name not in Options.model_fields:
            near = difflib.get_close_matches(str(name), [*OF_COMMANDS, *Options.model_fields], n=1)
            hint = f"Did you mean {near[0]}?" if near else "`localfact init --out FILE` writes all of them."
            raise InputError(f"{file}: there is no setting '{name!s:.{SHOWN}}'. {hint}")
    given = {str(name): value for name, value in found.items() if value is not None}
    if isinstance(given.get("engine_args"), dict):
        given["engine_args"] = [f"{key}={value}" for key, value in given["engine_args"].items()]
    many = {name for name, field in Options.model_fields.items() if isinstance(field.get_default(), tuple)} | {"engine_args"}
    settings = {
        name: [value] if name in many and not isinstance(value, list) else _as_typed(name, value)
        for name, value in given.items()
    }
    _check(file, settings)
    _check_of_commands(file, settings)
    return settings


def _as_typed(name: str, value: Any) -> Any:
    """A value as a user would type it, where YAML makes a date or a number of it."""
    return str(value) if name in TEXTS and type(value) in (int, date) else value


def _takes_yes_or_no(name: str) -> bool:
    """Whether a setting is switched on and off."""
    stated: Any = OF_COMMANDS[name][0].__origin__ if name in OF_COMMANDS else Options.model_fields[name].annotation
    return stated is bool or bool in get_args(stated)


def _check_of_commands(file: Path, settings: Mapping[str, Any]) -> None:
    """Raises InputError where a value is none that an option of commands takes."""
    for name, (option, _) in OF_COMMANDS.items():
        least = getattr(option.__metadata__[0], "min", None)
        kind: Any = option.__origin__ if least is None else Annotated[option.__origin__, Ge(least)]
        try:
            if name in settings:
                TypeAdapter(kind).validate_python(settings[name])
        except ValidationError as error:
            said = error.errors()[0]["msg"]
            raise InputError(f"{file}: {name} cannot be {settings[name]!r:.{SHOWN}}: {said[0].lower()}{said[1:]}.") from None


def _check(file: Path, settings: Mapping[str, Any]) -> None:
    """Raises InputError where a value is none that its option takes."""
    for name, value in settings.items():
        if isinstance(value, dict) or (isinstance(value, list) and not all(isinstance(one, str) for one in value)):
            raise InputError(f"{file}: {name} cannot be {value!r:.{SHOWN}}.")
        if isinstance(value, bool) and not _takes_yes_or_no(name):
            raise InputError(f"{file}: {name} cannot be {'yes' if value else 'no'}.")
        if isinstance(value, str) and _is_endless(value):
            raise InputError(f"{file}: {name} names {value:.{SHOWN}}, which is no file and no folder. Type it as an option.")
    try:
        options = check_options(Options, {name: value for name, value in settings.items() if name in Options.model_fields})
    except InputError as error:
        raise InputError(f"{file}: {error}") from None
    for argument in options.engine_args:
        if argument not in ENGINE_ARGUMENTS:
            known = ", ".join(sorted(ENGINE_ARGUMENTS))
            raise InputError(
                f"{file}: {argument:.{SHOWN}} is no argument of the engine that a file may give, since some of them run code. "
                f"Type it each time: --engine-arg {argument:.{SHOWN}}=VALUE. A file may give {known}."
            )


def _is_endless(text: str) -> bool:
    """Whether a text is the path of a device, a pipe or a socket, which may be read for ever."""
    try:
        path = Path(text)
        return path.exists() and not (path.is_file() or path.is_dir())
    except (OSError, ValueError):  # no path at all
        return False


def defaults(settings: Mapping[str, Any], commands: Commands, groups: Mapping[str, typer.Typer]) -> dict[str, Any]:
    """The settings as defaults: command -> {option: value}; a group's commands stand below its name (click's default_map)."""
    found = {name: _take_settings(settings, name, command) for name, command in commands.items()}
    for group, app in groups.items():
        inner = {one.name or getattr(one.callback, "__name__", ""): one.callback for one in app.registered_commands}
        found[group] = {name: _take_settings(settings, name, command) for name, command in inner.items() if command is not None}
    return found


def _take_settings(settings: Mapping[str, Any], name: str, command: Callable[..., Any]) -> dict[str, Any]:
    wanted = _command_settings(name, command)
    return {setting: value for setting, value in settings.items() if setting in wanted}


def _command_settings(name: str, command: Callable[..., Any]) -> frozenset[str]:
    """The settings that a command takes: its fields of `Options`, and those of OF_COMMANDS that are among its parameters."""
    parameters = inspect.signature(command).parameters
    own = {name for name, (option, _) in OF_COMMANDS.items() if name in parameters and parameters[name].annotation == option}
    return fields_of(command) | (own - ({"data"} if name in WITHOUT_DATA else set()))


def settings_for(config: Path | None, commands: Commands, groups: Mapping[str, typer.Typer], typed: str) -> dict[str, Any]:
    """The defaults that a file gives to commands; tells which of them the command that was typed takes.

    Args:
        config: the file; None for the one of the current folder, if it is there; NO_FILE for none.
    """
    file = SETTINGS_FILE if config is None else config
    if config is None and typed in commands and not _command_settings(typed, commands[typed]):
        return {}
    if str(config) == NO_FILE or (config is None and not file.is_file()):
        return {}
    found = defaults(read_settings(file), commands, groups)
    taken = found.get(typed, {})
    names = [name for value in taken.values() if isinstance(value, dict) for name in value] if typed in groups else list(taken)
    if names:
        note(f"Settings from {file}: {', '.join(dict.fromkeys(names))}.")
    return found


@contextmanager
def telling_unused_settings() -> Iterator[None]:
    """Prints, as notes, which settings of a file changed nothing in what was run; other warnings stay as they are."""
    with warnings.catch_warnings():
        shown = warnings.showwarning

        def tell(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if issubclass(category, UnusedSetting):
                note(str(message))
            else:
                shown(message, category, *place, **more)

        warnings.showwarning = tell
        warnings.simplefilter("always", UnusedSetting)
        yield


def write_commented() -> str:
    """The file as `init` writes it: every setting a comment, below what it does."""
    head = (
        "Settings of localfact: what commands in this folder take where nothing else is typed. Take the # away from those that "
        "you want. On the command line each is an option of the same name, --passage-prior for passage_prior, and goes before "
        "this file. A name without a value is as if it were not there. `localfact methods` explains the methods."
    )
    panels: dict[str, list[tuple[str, str, Any]]] = {
        "What is evaluated": [(name, option.__metadata__[0].help, default) for name, (option, default) in OF_COMMANDS.items()]
    }
    for name in Options.model_fields:
        panel = Options.group_of(name).panel or "Claims, and what is drawn by lot"
        panels.setdefault(panel, []).append((name, _explain(name), _default(name)))
    sections = [line for panel, settings in panels.items() for line in _section(panel, settings)]
    return "\n".join([*_wrap(head), "", *sections]).rstrip() + "\n"


def _explain(name: str) -> str:
    """What a field of the options does, as its help says, what it may be, and how it is typed where that is not its name."""
    field, typed = Options.model_fields[name], flags_of(Options, name)[0]
    said = [" ".join((field.description or "").split())]
    if kinds := choices_of(field.annotation):
        said.append(f"Values: {', '.join(kinds)}.")
    if typed != f"--{name.replace('_', '-')}":
        said.append(f"On the command line {typed}.")
    return " ".join(said)


def _default(name: str) -> Any:
    """A field's default as YAML has it; None where it is the method's own."""
    default = Options.model_fields[name].get_default(call_default_factory=True)
    return list(default) if isinstance(default, tuple) else default or None if isinstance(default, Mapping) else default


def _section(title: str, settings: list[tuple[str, str, Any]]) -> Iterator[str]:
    yield f"# ---- {title} {'-' * (WIDTH - 8 - len(title))}"
    yield ""
    for name, said, default in settings:
        yield from _wrap(said)
        value = "" if default is None else " " + yaml.safe_dump(default, default_flow_style=True).split("\n")[0]
        yield f"# {name}:{value}"
        yield ""


def _wrap(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)
