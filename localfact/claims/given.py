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
        if response.claims is not None:
            return Extraction(claims=response.claims)
        return await self._fallback.extract(response)
