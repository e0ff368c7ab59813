"""What the functions calc(), min(), max() and clamp() of CSS come to."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

#: The value of a token that is no sum, in the unit that is asked for; None for one of another kind.
Valued = Callable[[Any], float | None]
#: Sums within sums.
DEEPEST = 8


def compute(token: Any, valued: Valued, depth: int = 0) -> float | None:
    """The value of a function of CSS or of a parenthesis; None for anything else, and for what has no value."""
    name = token.lower_name if token.type == "function" else "calc" if token.type == "() block" else ""
    if name not in ("calc", "min", "max", "clamp") or depth > DEEPEST:
        return None
    inside = token.arguments if token.type == "function" else token.content
    read = [part for part in inside if part.type not in ("comment", "whitespace")]
    values = [_sum(list(parts), valued, depth) for comma, parts in groupby(read, lambda part: part == ",") if not comma]
    known = [value for value in values if value is not None]
    wanted = {"calc": 1, "clamp": 3}.get(name, len(values))
    if not known or len(known) < len(values) or len(known) != wanted:
        return None
    if name == "clamp":
        return max(known[0], min(known[1:]))
    return max(known) if name == "max" else min(known)


def _sum(parts: Sequence[Any], valued: Valued, depth: int) -> float | None:
    """The value of terms and signs in turn, products before sums, from the left; a sign may stand first."""
    odd = len(parts) % 2
    total, product = 0.0, _value(parts[0], valued, depth) if odd else 0.0
    for sign, part in zip(parts[odd::2], parts[1 + odd :: 2], strict=True):
        term = _value(part, valued, depth)
        if product is None or term is None:
            return None
        if sign == "*":
            product *= term
        elif sign == "/" and term:
            product /= term
        elif sign in ("+", "-"):
            total, product = total + product, term if sign == "+" else -term
        else:
            return None
    return None if product is None else total + product


def _value(part: Any, valued: Valued, depth: int) -> float | None:
    if part.type in ("function", "() block"):
        return compute(part, valued, depth + 1)
    return valued(part)
