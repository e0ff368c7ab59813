"""Claims that come with the input are taken as they are; only a response without any goes to the extractor behind."""

from localfact.records import Extraction, Response
from localfact.stages import ClaimExtractor


class GivenClaims:
    """An extractor that prefers the claims of the input file."""

    def __init__(self, fallback: ClaimExtractor) -> None:
        """Takes the extractor for responses whose input gives no claims."""
        self._fallback = fallback

    async def extract(self, response: Response) -> Extraction:
        """Returns the given claims unchanged (an empty list of them too), else what the fallback extracts."""
        return given(response) or await self._fallback.extract(response)


def given(response: Response) -> Extraction | None:
    """The claims that come with a response, with what the extractor of an earlier pass said of them; None without claims."""
    if response.claims is None:
        return None
    return (response.extraction or Extraction()).model_copy(update={"claims": response.claims})
