from localfact.claims.given import GivenClaims
from localfact.records import Claim, Extraction, Response


class NeverAsked:
    async def extract(self, response: Response) -> Extraction:
        raise AssertionError("the fallback was asked although claims were given")


class OneClaim:
    async def extract(self, response: Response) -> Extraction:
        return Extraction(claims=(Claim(id="c1", text=response.text),))


async def test_given_claims_are_returned_as_they_are() -> None:
    claims = (Claim(id="a7", text="Ada was born in 1815."), Claim(id="a2", text="Ada was born in 1815."))
    extraction = await GivenClaims(NeverAsked()).extract(Response(id="r", text="Ada.", claims=claims))
    assert extraction == Extraction(claims=claims)


async def test_what_an_extractor_said_beside_the_claims_goes_on_with_them() -> None:
    said = Extraction(unparsed=("Sure!",), counts={"chunks": 3}, dropped={"opinion": 1}, warnings=("One answer was cut.",))
    response = Response(id="r", text="Ada.", claims=(Claim(id="c1", text="Ada was born in 1815."),), extraction=said)
    extraction = await GivenClaims(NeverAsked()).extract(response)
    assert extraction == said.model_copy(update={"claims": response.claims})


async def test_an_empty_list_of_claims_is_given_too() -> None:
    extraction = await GivenClaims(NeverAsked()).extract(Response(id="r", text="Ada was born in 1815.", claims=()))
    assert extraction.claims == ()


async def test_without_given_claims_the_fallback_extracts() -> None:
    extraction = await GivenClaims(OneClaim()).extract(Response(id="r", text="Ada was born in 1815."))
    assert [claim.text for claim in extraction.claims] == ["Ada was born in 1815."]
