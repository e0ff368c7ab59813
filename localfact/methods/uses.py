"""Refuses an option that would change nothing: none is ignored in silence. What reads which option is in `parts.py`.

An option counts as given where it is not its default. What a user typed is refused; what a settings file gives, which serves
several commands and methods, is left out, and that is told as a warning of Python's.
"""

import warnings
from collections.abc import Collection, Iterable

from localfact.errors import InputError
from localfact.methods.evidence import scope_of
from localfact.methods.extraction import CHUNKED, EXTRACTORS, RULES
from localfact.methods.method import Method
from localfact.methods.option_group import UnusedSetting, flags_of
from localfact.methods.options import Options
from localfact.methods.parts import USES, RunPart
from localfact.methods.registry import METHODS, relation_names
from localfact.methods.relations import LEXICAL, LLM


def method_parts(method: Method, options: Options) -> set[RunPart]:
    """The parts that a method has with these options; nothing is read or loaded."""
    related = relation_names(method, options)
    name = options.extractor or (method.extractor if options.names_model else RULES)
    extractor = EXTRACTORS.get(name)  # an unknown one is refused elsewhere
    writes = LLM in (options.queries or method.queries, *related) or method.search_steps > 1
    asks = writes or bool(method.prompts) or (extractor is not None and extractor.asks_model)
    has = {
        RunPart.MODEL: options.names_model and asks and (method.model != "none" or LLM in related),
        RunPart.ASKED_CLAIMS: extractor is not None and extractor.asks_model,
        RunPart.CHUNKS: name == CHUNKED,
        RunPart.GATE: method.uses_theta,
        RunPart.RELATIONS: bool(related),
        RunPart.CALIBRATION: LLM in related and options.names_model,
        RunPart.RELATION_MAP: LLM in related and options.names_model,
        RunPart.EMBEDDER: True,
        RunPart.CORPUS: options.corpus is not None or options.live,
        RunPart.FETCHING: options.live and options.evidence == "page",
        RunPart.SEARXNG: "searxng" in options.providers,
    }
    return {part for part, there in has.items() if there} | method.parts


def parts_of(method: Method, options: Options) -> set[RunPart]:
    """The parts that a run has. Reads the corpus's description where that decides.

    Raises:
        InputError, MissingError: as `scope_of`.
    """
    found = method_parts(method, options)
    if options.results is not None and options.corpus is not None and scope_of(options, options.corpus) == "query":
        found.add(RunPart.SEARCHES)
    return found


def relation_parts(names: Iterable[str], *, asks: bool = False) -> set[RunPart]:
    """The parts of a command that only relates, with relation models of these names; `asks`: a language model besides."""
    names = tuple(names)
    found = {RunPart.RELATIONS, *((RunPart.EMBEDDER,) if LEXICAL in names else ())}
    return found | ({RunPart.MODEL} if asks or LLM in names else set())


def extractor_parts(name: str) -> set[RunPart]:
    """The parts of a command that only extracts claims, by this extractor."""
    kind = EXTRACTORS.get(name)
    asks = {RunPart.MODEL, RunPart.ASKED_CLAIMS} if kind is not None and kind.asks_model else set()
    return asks | ({RunPart.CHUNKS} if name == CHUNKED else set())


def keep_used(options: Options, has: Collection[RunPart], who: str) -> Options:
    """The options without those that a settings file gives and nothing uses.

    Args:
        has: the parts that there are. who: what has them, for messages: "the method builtin-fr2".

    Raises:
        InputError: one that was typed would change nothing; the message names the methods that use it.
    """
    unused = find_unused(options, has)
    if typed := [name for name in unused if name in options.model_fields_set]:
        part = USES[typed[0]]
        flags = " and ".join(flag_typed(name, options) for name in typed if USES[name] is part)
        if part is RunPart.MODEL and options.names_model:
            raise InputError(f"{flags} would change nothing in {who}: no language model is asked there. {tell_asking()}")
        raise InputError(f"{flags} would change nothing in {who}: {tell_use(part)}")
    for name in unused:
        warnings.warn(f"The setting {name} changes nothing in {who}: {tell_use(USES[name])}", UnusedSetting, stacklevel=2)
    return without(options, unused)


def leave_out(options: Options, names: Collection[str], what: str) -> Options:
    """The options without those of these names, which a settings file may give and which are for other commands.

    Args:
        what: what they would change nothing in, and why, for messages.

    Raises:
        InputError: one of them was typed.
    """
    given = [name for name in given_options(options) if name in names]
    if typed := [name for name in given if name in options.model_fields_set]:
        flags = " and ".join(flag_typed(name, options) for name in typed)
        raise InputError(f"{flags} would change nothing in {what}. Leave it out.")
    for name in given:
        warnings.warn(f"The setting {name} changes nothing in {what}.", UnusedSetting, stacklevel=2)
    return without(options, given)


def used_options(method: Method, options: Options) -> Options:
    """The options that a method uses, of those meant for several."""
    return without(options, find_unused(options, parts_of(method, options)))


def find_unused(options: Options, has: Collection[RunPart]) -> list[str]:
    """The names of the options that are given and that no part of these reads."""
    return [name for name in given_options(options) if (part := USES[name]) is not None and part not in has]


def given_options(options: Options) -> list[str]:
    """The names of the options that are not their default."""
    fields = Options.model_fields.items()
    return [name for name, field in fields if getattr(options, name) != field.get_default(call_default_factory=True)]


def without(options: Options, names: Iterable[str]) -> Options:
    """The options, with those of the given names set to their defaults."""
    fields = Options.model_fields
    return options.model_copy(update={name: fields[name].get_default(call_default_factory=True) for name in names})


def flag_typed(name: str, options: Options) -> str:
    """The flag by which an option was typed: of two that exclude each other the one that was meant."""
    there, _, gone = flags_of(Options, name)[0].partition("/")
    return gone if gone and getattr(options, name) is False else there


def tell_asking() -> str:
    """Which methods ask a language model."""
    return f"Methods that ask one: {', '.join(name for name, method in METHODS.items() if method.model != 'none')}."


def tell_use(part: RunPart | None) -> str:
    """What options of a part are about, and what has it."""
    if part is None:
        raise AssertionError("what every run does is never unused")
    about = f"that is about {part.about}."
    using = [name for name, method in METHODS.items() if part in method_parts(method, Options(model=name))]
    if part is RunPart.MODEL:
        return f"{about} {part.cure}; methods that ask it: {', '.join(using)}."
    extractors = [name for name in EXTRACTORS if part in extractor_parts(name)]
    by_extractor = f"Extractors that use it: {', '.join(extractors)}; m" if extractors else "M"
    return f"{about} {part.cure}." if part.cure else f"{about} {by_extractor}ethods that use it: {', '.join(using)}."
