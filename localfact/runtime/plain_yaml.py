"""Reads YAML that may come from elsewhere: whatever is wrong with it is a ValueError, and what it holds is bounded."""

from typing import Any

import yaml

#: The most values that a document may hold, each counted as often as it is named: a few lines of aliases can name billions.
MOST_VALUES = 1_000_000


class _Loader(yaml.SafeLoader):
    """Safe, and without merge keys, which would name values many times over before anybody could count them."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Raises where a mapping is merged into another."""
        if any(key.tag == "tag:yaml.org,2002:merge" for key, _ in node.value):
            raise yaml.constructor.ConstructorError(problem="a merge key (<<) is not read", problem_mark=node.start_mark)

    def construct_date(self, node: yaml.ScalarNode) -> Any:
        """A date or a time."""
        return self.construct_yaml_timestamp(node)


# A library that vLLM imports has PyYAML's own loader take dates for text, everywhere in the process.
_Loader.add_constructor("tag:yaml.org,2002:timestamp", _Loader.construct_date)


def read_yaml(text: str | bytes) -> Any:
    """The plain values of a YAML document.

    Raises:
        ValueError: it is not YAML, not UTF-8, too deep, has merge keys, or holds more than MOST_VALUES values.
    """
    try:
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
        if isinstance(value, dict):
            ahead.extend(value.values())
        elif isinstance(value, list | tuple | set):
            ahead.extend(value)
    return content
