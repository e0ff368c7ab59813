"""Names that a file gives and that become paths: one component, or components below a folder; never a way out of it."""

import unicodedata
from typing import Annotated

from pydantic import AfterValidator

#: Bytes of the longest name of a file on common file systems.
LONGEST = 255
#: Characters of the longest line, or path.
LONGEST_LINE = 4_096
#: Categories of Unicode that no name and no single line holds: control and format characters, line and paragraph separators.
UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def check_line(text: str) -> str:
    """Returns a text that stands on one line, as pip, YAML and a terminal read lines.

    Raises:
        ValueError: it has a character that is not seen, a separator of lines, or a backslash at its end.
    """
    unseen = any(unicodedata.category(character) in UNSEEN for character in text)
    if unseen or text.endswith("\\") or len(text) > LONGEST_LINE:
        raise ValueError(
            f"it must be one line of at most {LONGEST_LINE} characters, without a control character or a backslash at its end"
        )
    return text


def check_component(name: str) -> str:
    """Returns a name that is one component of a path.

    Raises:
        ValueError: it is empty, too long, more than one component, "." or "..", or no single line.
    """
    check_line(name)
    if name in ("", ".", "..") or "/" in name or "\\" in name or len(name.encode("utf-8", "surrogatepass")) > LONGEST:
        raise ValueError(f"{name!r:.60} must be one name, without / and \\, of at most {LONGEST} bytes")
    return name


def check_folder(name: str) -> str:
    """Returns a name that a folder is made of: a component that is not hidden, as .git is.

    Raises:
        ValueError: it is hidden, or no component.
    """
    if check_component(name).startswith("."):
        raise ValueError(f"{name!r:.60} must not begin with a dot")
    return name


def check_text(text: str) -> str:
    """Returns a text that UTF-8 can write. Raises ValueError where it has half of a surrogate pair, or a NUL."""
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("it holds a character that no text has")
    return text


def check_relative(path: str) -> str:
    """Returns a path of components that lies below the folder it is joined to; "." is that folder.

    Raises:
        ValueError: it is absolute, or a part of it is no component.
    """
    if path != ".":
        for part in path.split("/"):
            check_component(part)
    return path


def is_relative(path: str) -> bool:
    """Whether a text is a path below the folder it is joined to."""
    try:
        check_relative(path)
    except ValueError:
        return False
    return path != "."


OneLine = Annotated[str, AfterValidator(check_line)]
FolderName = Annotated[str, AfterValidator(check_folder)]
PlainText = Annotated[str, AfterValidator(check_text)]
PathComponent = Annotated[str, AfterValidator(check_component)]
RelativePath = Annotated[str, AfterValidator(check_relative)]
