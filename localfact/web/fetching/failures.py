"""The reasons for which a page could not be fetched or read; the corpus stores them beside the address."""

from enum import StrEnum

from localfact.records import Record


class Reason(StrEnum):
    """Why an address gave no page."""

    ADDRESS_REFUSED = "address_refused"
    NAME_NOT_RESOLVED = "name_not_resolved"
    CONNECTION_FAILED = "connection_failed"
    TIMED_OUT = "timed_out"
    ROBOTS_DISALLOWED = "robots_disallowed"
    RATE_LIMITED = "rate_limited"
    HTTP_STATUS = "http_status"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    TOO_LARGE = "too_large"
    MEDIA_TYPE_REFUSED = "media_type_refused"
    UNREADABLE = "unreadable"
    LOGIN_REQUIRED = "login_required"
    NO_TEXT = "no_text"
    WITHDRAWN = "withdrawn"  # by `corpus remove`


#: Reasons that may not hold at another try; the others are properties of the page.
TRANSIENT = frozenset({Reason.NAME_NOT_RESOLVED, Reason.CONNECTION_FAILED, Reason.TIMED_OUT, Reason.RATE_LIMITED})


class PageFailure(Record):
    """Why an address gave no page, with a detail (a status, a size, an address)."""

    reason: Reason
    detail: str = ""

    def __str__(self) -> str:
        words = self.reason.replace("_", " ")
        return f"{words}: {self.detail}" if self.detail else words


class PageError(Exception):
    """An address gives no page; `failure` says why."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(str(PageFailure(reason=reason, detail=detail)))
        self.failure = PageFailure(reason=reason, detail=detail)
