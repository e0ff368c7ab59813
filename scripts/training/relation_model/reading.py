"""Training and development pairs as they are read at use: a long premise is one of the windows picked for its hypothesis."""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from localfact.relations.window_selection import premise_windows
from localfact.text import words
from scripts.training.relation_model.examples import NEUTRAL, Example, digest

#: Tokens of a window: mostly as at use, sometimes fewer, so that no length tells anything.
WINDOW_TOKENS = (128, 128, 96, 64)
#: A window that holds less than this share of the words that the label rests on does not show what the label says.
LEAST_FOCUS = 0.7
#: A premise that speaks to nothing is read in so many of its windows.
NEUTRAL_WINDOWS = 2
#: Tokens of a hypothesis at most: what is longer is no claim.
LONGEST_HYPOTHESIS = 96


def as_read(examples: Sequence[Example], starts: Callable[[str], Sequence[int]]) -> Iterator[Example]:
    """The examples with windows for premises; one whose label no window shows is left out, and one with a long hypothesis."""
    for example in examples:
        chance = random.Random(digest(f"{example.premise}\n{example.hypothesis}"))
        size = chance.choice(WINDOW_TOKENS)
        premise, claim = example.premise, example.hypothesis
        if len(starts(claim)) > LONGEST_HYPOTHESIS:
            continue
        if example.label == NEUTRAL:
            picked = premise_windows(premise, claim, starts, size=size, most=NEUTRAL_WINDOWS)
            chosen: str | None = chance.choice(picked)
        elif example.focus:
            chosen = showing(example.focus, premise_windows(premise, claim, starts, size=size, most=None))
        else:
            chosen = premise_windows(premise, claim, starts, size=size, most=1)[0]
        if chosen is not None:
            yield example._replace(premise=chosen)


def showing(focus: str, windows: Sequence[str]) -> str | None:
    """The window that holds most of the words of the focus; None where even that lacks too many."""
    wanted = Counter(words(focus.casefold()))
    total = wanted.total()
    held = [(wanted & Counter(words(window.casefold()))).total() for window in windows]
    best = max(range(len(windows)), key=held.__getitem__)
    return windows[best] if not total or held[best] >= LEAST_FOCUS * total else None
