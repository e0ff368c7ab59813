"""An option written once: a field of a class is an argument in Python and an option on the command line.

The sentence below a field is its help. The options themselves are in `options.py`, what uses them in `uses.py`.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from pydantic import ConfigDict, ValidationError

from localfact.errors import InputError
from localfact.records import Record
from localfact.runtime.suggesting import suggest


class UnusedSetting(UserWarning):
    """A setting, of a file or typed, that changes nothing in what is run, or only seldom."""


@dataclass(frozen=True)
class OptionFlag:
    """How an option is typed where its name does not say it.

    Attributes:
        names: the flags.
        metavar: what stands behind them.
        many: whether it may be repeated.
    """

    names: tuple[str, ...]
    metavar: str | None = None
    many: bool = False


class OptionGroup(Record):
    """Options that belong together: a heading in --help, a part of the settings."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    #: The heading; None for the command's own options.
    panel: ClassVar[str | None] = None

    @classmethod
    def group_of(cls, name: str) -> "type[OptionGroup]":
        """The group that defines a field, under whose heading --help shows it."""
        return next(group for group in cls.__mro__ if issubclass(group, OptionGroup) and name in group.__annotations__)


Chosen = TypeVar("Chosen", bound=OptionGroup)
#: The context in which options are read as they were typed: what is wrong is said of flags, else of names in Python.
TYPED = "typed"


def flags_of(group: type[OptionGroup], name: str) -> tuple[str, ...]:
    """The flags of a field's option: those of its OptionFlag, else its own name, in the singular where it may be repeated."""
    field = group.model_fields[name]
    flag = flag_of(group, name)
    if flag is not None:
        return flag.names
    plain = name.replace("_", "-")
    return (f"--{plain.removesuffix('s') if isinstance(field.get_default(), tuple) else plain}",)


def flag_of(group: type[OptionGroup], name: str) -> OptionFlag | None:
    """The OptionFlag of a field; None where it has none."""
    return next((mark for mark in group.model_fields[name].metadata if isinstance(mark, OptionFlag)), None)


def check_options(group: type[Chosen], typed: Mapping[str, Any], of_file: Collection[str] = ()) -> Chosen:
    """The options from what a user typed.

    Args:
        typed: the values, by name.
        of_file: which of them come from a settings file: they are no more than defaults, and not in `model_fields_set`.

    Raises:
        InputError: a value is invalid; the message names the option and what it takes.
    """
    try:
        options = group.model_validate(typed, context=TYPED)
    except ValidationError as error:
        known = group.model_fields
        raise InputError(tell_misuse(error, lambda name: flags_of(group, name)[0] if name in known else name, known)) from None
    options.model_fields_set.difference_update(of_file)
    return options


def tell_misuse(error: ValidationError, name_of: Callable[[str], str] = str, known: Collection[str] = ()) -> str:
    """What is wrong with the first option that cannot be used, in a sentence, and what it takes.

    Args:
        name_of: an option's name for the reader. known: the names that there are.
    """
    first = error.errors()[0]
    name, value = name_of(str(first["loc"][0])) if first["loc"] else "options", first["input"]
    if first["type"] == "extra_forbidden":
        return f"There is no option '{name}'. {suggest(name, known)}docs/api.md lists them."
    if first["type"] == "tuple_type":
        return f"{name} takes a list of texts, such as [{value!r:.100}], not {value!r:.100}."
    return f"{name} cannot be {value!r:.100}: {first['msg'][0].lower()}{first['msg'][1:]}."
