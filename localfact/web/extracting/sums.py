"""What the functions calc(), min(), max() and clamp() of CSS come to."""

from collections.abc import Callable, Sequence
from typing import Any

#: The value of a token that is no sum, in the unit that is asked for; None for one of another kind.
Valued = Callable[[Any], float | None]
#: Sums within sums.
DEEPEST = 8


def computed(token: Any, valued: Valued, depth: int = 0) -> float | None:
    """The value of a function of CSS or of a parenthesis; None for anything else, and for what has no value."""
    name = token.lower_name if token.type == "function" else "calc" if token.type == "() block" else ""
    if name not in ("calc", "min", "max", "clamp") or depth > DEEPEST:
        return None
    read = [part for part in (token.arguments if token.type == "function" else token.content) if part.type != "comment"]
    parts: list[list[Any]] = [[]]
    for part in read:
        if part == ",":
            parts.append([])
        elif part.type != "whitespace":
            parts[-1].append(part)
    values = [_sum(part, valued, depth) for part in parts]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    if name == "clamp":
        return max(known[0], min(known[1:])) if len(known) == 3 else None
    if name == "calc":
        return known[0] if len(known) == 1 else None
    return {"min": min, "max": max}[name](known)


def _sum(parts: Sequence[Any], valued: Valued, depth: int) -> float | None:
    """The value of terms and signs in turn: products before sums, from the left."""
    if len(parts) % 2 == 0:
        return _read_signed(parts, valued, depth)
    terms = [_value(part, valued, depth) for part in parts[::2]]
    signs = [getattr(part, "value", None) for part in parts[1::2]]
    if None in terms or any(sign not in ("+", "-", "*", "/") for sign in signs):
        return None
    total, product, adding = 0.0, terms[0] or 0.0, 1.0
    for sign, term in zip(signs, terms[1:], strict=True):
        term = term or 0.0
        if sign == "*":
            product *= term
        elif sign == "/":
            if not term:
                return None
            product /= term
        else:
            total, product, adding = total + adding * product, term, 1.0 if sign == "+" else -1.0
    return total + adding * product


def _read_signed(parts: Sequence[Any], valued: Valued, depth: int) -> float | None:
    """A sign before a term: "-(3px)"."""
    if len(parts) == 2 and getattr(parts[0], "value", None) in ("+", "-"):
        value = _value(parts[1], valued, depth)
        return None if value is None else value * (-1 if parts[0].value == "-" else 1)
    return None


def _value(part: Any, valued: Valued, depth: int) -> float | None:
    if part.type in ("function", "() block"):
        return computed(part, valued, depth + 1)
    return valued(part)
