"""Makes real ZIM files with libzim's writer, for tests that import them."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

writer = pytest.importorskip("libzim.writer", reason="libzim is not installed: an optional package, under the GPL")


class Article(writer.Item):  # type: ignore[misc]
    """One entry of a file to be made."""

    def __init__(self, path: str, content: str | bytes, *, title: str = "", media_type: str = "text/html") -> None:
        super().__init__()
        self.path, self.content, self.title, self.media_type = path, content, title, media_type

    def get_path(self) -> str:
        return self.path

    def get_title(self) -> str:
        return self.title

    def get_mimetype(self) -> str:
        return self.media_type

    def get_contentprovider(self) -> Any:
        return writer.StringProvider(self.content)

    def get_hints(self) -> dict[Any, int]:
        return {writer.Hint.FRONT_ARTICLE: True}


def zim_file(
    file: Path,
    entries: Iterable[Article],
    *,
    metadata: Mapping[str, str] | None = None,
    redirects: Mapping[str, str] | None = None,
) -> Path:
    """A ZIM file of these entries; `redirects` maps a path to the path it leads to."""
    with writer.Creator(file).config_indexing(False, "eng") as creator:
        for entry in entries:
            creator.add_item(entry)
        for path, target in (redirects or {}).items():
            creator.add_redirection(path, path, target, {})
        for key, value in (metadata or {}).items():
            creator.add_metadata(key, value)
        # Metadata in HTML is no article.
        creator.add_metadata("About", "<html><body><p>About this file.</p></body></html>", "text/html")
    return file
