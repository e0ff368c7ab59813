"""Reads YAML that may come from elsewhere: whatever is wrong with it is a ValueError, and what it holds is bounded."""

from pathlib import Path
from typing import Any

import yaml

#: The most values that a document may hold, each counted as often as it is named: a few lines of aliases can name billions.
MOST_VALUES = 1_000_000
#: The most bytes of a file that a person writes: it is read in some seconds.
MOST_BYTES = 256_000
#: How deep its lists and mappings may lie in one another: libyaml composes them by recursion in C, which nothing else bounds.
MOST_LEVELS = 100
#: Whole numbers stay below it: a float holds them, and a message can show them.
MOST_NUMBER = 2**1000


class _Loader(yaml.CSafeLoader):
    """Safe, and without merge keys, which would name values many times over before anybody could count them.

    libyaml's: a sixth of the time that PyYAML's own takes, with the look at the depth that it needs.
    """

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Raises where a mapping is merged into another."""
        if any(key.tag == "tag:yaml.org,2002:merge" for key, _ in node.value):
            raise yaml.constructor.ConstructorError(problem="a merge key (<<) is not read", problem_mark=node.start_mark)

    def construct_date(self, node: yaml.ScalarNode) -> Any:
        """A date or a time."""
        return self.construct_yaml_timestamp(node)


# A library that vLLM imports has PyYAML's own loader take dates for text, everywhere in the process.
_Loader.add_constructor("tag:yaml.org,2002:timestamp", _Loader.construct_date)


def read_yaml_file(file: Path) -> Any:
    """The plain values of a file that a person writes.

    Raises:
        OSError: it cannot be read. ValueError: as `read_yaml`, or it has more than MOST_BYTES.
    """
    with file.open("rb") as stream:
        content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError(f"more than {MOST_BYTES:,} bytes")
    return read_yaml(content)


def read_yaml(text: str | bytes) -> Any:
    """The plain values of a YAML document.

    Raises:
        ValueError: it is not YAML, not UTF-8, too deep, has merge keys, or more than MOST_VALUES values, or a huge number.
    """
    try:
        _check_levels(text)
        content = yaml.load(text, _Loader)
    except MemoryError:
        raise
    except Exception as error:  # its constructors raise nearly anything for a tag that does not fit
        raise ValueError(f"{type(error).__name__}: {' '.join(str(error).split())}") from None
    ahead, count = [content], 0
    while ahead:
        count += 1
        if count > MOST_VALUES:
            raise ValueError(f"more than {MOST_VALUES:,} values, or one that contains itself")
        value = ahead.pop()
        if any(isinstance(one, int) and abs(one) > MOST_NUMBER for one in (value, *(value if isinstance(value, dict) else ()))):
            raise ValueError("a whole number that is too large")
        if isinstance(value, dict):
            ahead.extend(value.values())
        elif isinstance(value, list | tuple | set):
            ahead.extend(value)
    return content


def _check_levels(text: str | bytes) -> None:
    """Raises a YAMLError where the document is too deep to be composed."""
    level = 0
    for event in yaml.parse(text, _Loader):
        level += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if level > MOST_LEVELS:
            raise yaml.composer.ComposerError(problem=f"more than {MOST_LEVELS} levels")
