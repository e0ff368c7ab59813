"""An option written once: a field of a class is an argument in Python and an option on the command line.

The sentence below a field is its help. The options themselves are in `options.py`, what uses them in `uses.py`.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from pydantic import ConfigDict, ValidationError

from localfact.errors import InputError
from localfact.records import Record


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
        options = group(**typed)
    except ValidationError as error:
        first = error.errors()[0]
        flag = flags_of(group, str(first["loc"][0]))[0]
        raise InputError(f"{flag} cannot be {first['input']!r:.100}: {first['msg'][0].lower()}{first['msg'][1:]}.") from None
    options.model_fields_set.difference_update(of_file)
    return options
