"""What is in a Kiwix ZIM file: the HTML articles of an offline Wikipedia or of any archived site, not yet extracted.

libzim is licensed under the GPL, so it is an optional dependency, imported only here, and only run by `zim_worker.py`.
"""

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from localfact.corpus.importing.factscore_database import UNESCAPED
from localfact.corpus.importing.imported import Problem, RawPage
from localfact.errors import InputError, MissingError
from localfact.runtime.addresses import address_without_secrets
from localfact.runtime.cures import install_extra
from localfact.web.fetching.exchange import charset_of, media_type_of
from localfact.web.pages import MAX_FILE_BYTES, clean_text

if TYPE_CHECKING:
    from libzim.reader import Archive, Entry

MAGIC = b"ZIM\x04"
ARTICLE_TYPES = frozenset({"text/html", "application/xhtml+xml"})
#: The scraper of MediaWikis, whose entries have the names of their articles.
MEDIAWIKI_SCRAPER = "mwoffliner"
#: The scrapers of whole sites, whose entries are named HOST/PATH.
SITE_SCRAPERS = ("zimit", "warc2zim")
#: Larger metadata is ignored: it is no name and no address.
MAX_METADATA_BYTES = 10_000


def open_archive(file: Path) -> "Archive":
    """The archive, whose index libzim has checked.

    Raises:
        MissingError: libzim is not installed. InputError: the file is no ZIM archive, or is damaged.
    """
    try:
        from libzim.reader import Archive
    except ImportError:
        raise MissingError(f"Reading ZIM files needs libzim, which is under the GPL: {install_extra('zim')}.") from None
    try:
        return Archive(file)
    except Exception as error:  # errors of the C++ library arrive as various classes
        raise InputError(f"{file} cannot be read as a ZIM archive: {str(error).rstrip('.')}. Copy it again.") from error


def article(archive: "Archive", number: int, name: str, addresses: "ZimAddresses") -> RawPage | Problem | None:
    """The article in this entry; None where it is no article."""
    where = f"{name}, entry {number}"
    try:
        entry = archive._get_entry_by_id(number)
        if entry.is_redirect:
            return None
        item = entry.get_item()
        media_type = media_type_of(item.mimetype)
        if media_type not in ARTICLE_TYPES or not is_content(archive, entry):
            return None
        where = f"{name}, {address_without_secrets(clean_text(entry.path))}"
        if item.size > MAX_FILE_BYTES:
            return Problem(where, f"The entry is larger than {MAX_FILE_BYTES:,} bytes.")
        return RawPage(
            where=where,
            link=addresses.link(entry.path),
            body=bytes(item.content),
            media_type=media_type,
            charset=charset_of(item.mimetype) or "utf-8",
            title=address_without_secrets(clean_text(entry.title)),  # the path again where the article has none
        )
    except Exception as error:  # see above; it concerns this entry alone
        return Problem(where, f"The entry cannot be read: {str(error).rstrip('.')}.")


def is_content(archive: "Archive", entry: "Entry") -> bool:
    """Whether the entry is content, not metadata or an index of the archive.

    Old archives have the namespace in the path, A for articles; in newer ones only content can be looked up by its path.
    """
    if not archive.has_new_namespace_scheme:
        return bool(entry.path.startswith("A/"))
    return bool(archive.has_entry_by_path(entry.path) and archive.get_entry_by_path(entry.path)._index == entry._index)


class ZimAddresses:
    """The web addresses of an archive's entries, from its metadata: see https://wiki.openzim.org/wiki/Metadata."""

    def __init__(self, archive: "Archive", name: str) -> None:
        self._old_scheme = not archive.has_new_namespace_scheme
        scraper = metadata(archive, "Scraper").lower()
        source = metadata(archive, "Source")
        parts = urlsplit(source if "://" in source else f"https://{source}") if is_address(source) else None
        self._base = f"zim://{quote(metadata(archive, 'Name') or Path(name).stem, safe='')}/"
        if any(known in scraper for known in SITE_SCRAPERS):
            self._base = "https://"
        elif parts is not None and MEDIAWIKI_SCRAPER in scraper:
            self._base = f"{parts.scheme}://{parts.netloc}{parts.path if len(parts.path) > 1 else '/wiki/'}"
        elif parts is not None and "://" in source and parts.path.endswith("/"):
            self._base = f"{parts.scheme}://{parts.netloc}{parts.path}"

    def link(self, path: str) -> str:
        """The address of the entry: on the web where the metadata tell it, else `zim://NAME/PATH`."""
        plain = address_without_secrets(path.removeprefix("A/") if self._old_scheme else path)
        return self._base + quote(plain.replace(" ", "_") if self._base.endswith("/wiki/") else plain, safe=UNESCAPED)


def is_address(source: str) -> bool:
    """Whether the metadata `Source` names a host: "en.wikipedia.org", "https://example.org/docs/"."""
    try:
        parts = urlsplit(source if "://" in source else f"https://{source}")
        host = parts.hostname or ""
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and "." in host and " " not in source


def metadata(archive: "Archive", key: str) -> str:
    """A metadata entry as text; "" where the archive has none."""
    try:
        if archive.get_metadata_item(key).size > MAX_METADATA_BYTES:
            return ""
        return clean_text(archive.get_metadata(key).decode("utf-8", errors="replace"))
    except Exception:  # absent, or not readable: the entries can still be read
        return ""
