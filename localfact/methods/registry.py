"""The named methods, and which one the options select. A new method is a file beside this one and a line here."""

from collections.abc import Mapping

from localfact.errors import InputError
from localfact.methods.factreasoner import BUILTIN, FACTREASONER
from localfact.methods.fastfact import FASTFACT
from localfact.methods.judges import JUDGES
from localfact.methods.localfact import LOCALFACT
from localfact.methods.method import Method
from localfact.methods.options import Options
from localfact.methods.relations import DEFAULT_RELATIONS, LLM
from localfact.runtime.suggesting import suggest

METHODS: Mapping[str, Method] = {
    method.name: method
    for method in (
        *BUILTIN,
        *FACTREASONER,
        FASTFACT,
        LOCALFACT,
        *JUDGES,
    )
}
DEFAULT_METHOD = "builtin-fr2"
DEFAULT_METHOD_WITH_MODEL = "localfact"


def find_method(name: str) -> Method:
    """The method of that name.

    Raises:
        InputError: there is none; the nearest name is suggested.
    """
    if not isinstance(name, str):
        raise InputError(f"A method is named by a text such as 'builtin-fr2', not {name!r:.100}.")
    if name in METHODS:
        return METHODS[name]
    hint = suggest(name, METHODS) or f"There are: {', '.join(METHODS)}. "
    raise InputError(f"There is no method '{name}'. {hint}`localfact methods` describes them.")


def method_named(name: str | None, options: Options) -> Method:
    """The named method, or the default.

    Raises:
        InputError: as `find_method`.
    """
    return find_method(name or (DEFAULT_METHOD_WITH_MODEL if options.names_model else DEFAULT_METHOD))


def method_for(name: str | None, options: Options) -> Method:
    """The named method, or the default: localfact where a language model is named, else builtin-fr2.

    Raises:
        InputError: no such method, or one that needs a model without one.
    """
    method = method_named(name, options)
    if options.names_model:
        return method
    if method.model == "required":
        raise InputError(f"The method {method.name} asks a language model: name one with --model (`localfact models list`).")
    if LLM in relation_names(method, options):
        raise InputError(
            f"The method {method.name} asks a language model for relations: name one with --model (`localfact models list`), "
            f"or take another relation model, --relations {DEFAULT_RELATIONS} say."
        )
    if options.queries == LLM:
        raise InputError("--queries llm asks a language model: name one with --model (`localfact models list`).")
    return method


def relation_names(method: Method, options: Options) -> list[str]:
    """The relation models that a method asks: its own, and the second opinion; none for a method that relates nothing."""
    if method.relations is None:
        return []
    return [each for each in (options.relations or method.relations, options.second_opinion) if each is not None]
