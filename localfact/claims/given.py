"""Uses claims that come with the input unchanged; a response without any goes to the fallback extractor."""

from dataclasses import dataclass

from localfact.records import Extraction, Response
from localfact.stages import ClaimExtractor


@dataclass(frozen=True)
class GivenClaims:
    """An extractor that prefers the claims of the input; `fallback` extracts those of responses without any."""

    fallback: ClaimExtractor

    async def extract(self, response: Response) -> Extraction:
        """Returns the given claims unchanged (also an empty list), else what the fallback extracts."""
        return read_given_claims(response) or await self.fallback.extract(response)


def read_given_claims(response: Response) -> Extraction | None:
    """The claims that come with a response, with the other results of the earlier pass that extracted them.

    None without claims.
    """
    if response.claims is None:
        return None
    return (response.extraction or Extraction()).model_copy(update={"claims": response.claims})
