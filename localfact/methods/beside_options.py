"""Options of what is looked at beside verdicts: what a text cites, what it leaves out, whether it contradicts itself."""

from typing import Annotated

from pydantic import Field

from localfact.methods.option_group import OptionFlag, OptionGroup


class CitationOptions(OptionGroup):
    """The sources that a text cites."""

    citations: bool = False
    """Check what the text cites, too: does each source that it marks say so? docs/citations.md has the forms of marks."""


class RecallOptions(OptionGroup):
    """What the pages about a prompt say, and a text may leave out."""

    key_facts: Annotated[int, Field(ge=0, le=1000), OptionFlag(("--key-facts",), "N")] = 0
    """Look in the text for so many key facts of the pages about its topic and prompt, 50 for instance: R@E, and what is \
missing (docs/recall.md). Default: none."""


class CoherenceOptions(OptionGroup):
    """What the claims of a text say of one another."""

    coherence: bool = False
    """Find claims of a text that contradict one another (docs/coherence.md); without a corpus, that alone."""
