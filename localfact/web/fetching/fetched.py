"""What fetching a page gives: the page, or the reason why there is none, with all exchanges on the way."""

from dataclasses import dataclass

from localfact.web.fetching.exchange import Exchange
from localfact.web.fetching.failures import PageError, PageFailure


@dataclass(frozen=True)
class Fetched:
    """A fetched page.

    Attributes:
        link: as asked for.
        final_link: where redirects led.
        exchange: the page's own, never that of a robots.txt or a redirect.
        body: decoded.
        exchanges: all exchanges of this fetch, in order: robots.txt, redirects, further tries, the page.
    """

    link: str
    final_link: str
    exchange: Exchange
    body: bytes
    exchanges: tuple[Exchange, ...]


class FetchError(PageError):
    """A page could not be fetched.

    Attributes:
        failure: why.
        final_link: the address of the last request for the page; the link itself where there was none.
        answer: the answer of that address, if it is what failed; one of `exchanges`, never a robots.txt or a redirect that was
            followed. None if the failure left no answer.
        exchanges: all exchanges of this fetch, in order, as in Fetched.
    """

    def __init__(
        self, failure: PageFailure, exchanges: tuple[Exchange, ...], *, final_link: str, answer: Exchange | None = None
    ) -> None:
        super().__init__(failure.reason, failure.detail)
        self.exchanges = exchanges
        self.final_link = final_link
        self.answer = answer
