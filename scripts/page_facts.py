"""Makes up what the pages of `page_kinds.py` say: sentences, labels with values, rows of numbers, and words about the site."""

import random
from collections.abc import Sequence

PLACES = [
    "Orvik",
    "Tessen",
    "Maralba",
    "Quill",
    "Dunmore",
    "Sarnath",
    "Velin",
    "Harrow",
    "Castel",
    "Bryne",
    "Ostia",
    "Lunde",
    "Farrow",
    "Pellan",
    "Ghent",
    "Rimmon",
]
PEOPLE = [
    "Ada Brandt",
    "Ivo Karsten",
    "Mira Solano",
    "Tomas Wren",
    "Lena Okafor",
    "Jon Petrak",
    "Nora Haldane",
    "Sami Virtanen",
]
THINGS = ["bridge", "observatory", "lighthouse", "reservoir", "museum", "tramway", "harbour", "library", "theatre", "canal"]
SITE = [
    "Subscribe to our newsletter for weekly updates",
    "Terms of use and privacy notice",
    "All rights reserved by the publisher",
    "Follow us on every platform",
    "We use cookies to improve your visit. Accept all cookies or change your settings.",
    "You may also like these ten stories",
]
MENU = ["Home", "World news", "Business desk", "Sport live", "Travel deals", "My account", "Help centre", "Shop all offers"]

#: What must be together on one line of the text: a sentence, or a label and its value.
Fact = tuple[str, ...]


class Writer:
    """Makes up facts and the markup that states them."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.prose: list[Fact] = []
        self.facts: list[Fact] = []
        self.site = [*SITE, *MENU]
        self.place, self.person, self.thing = rng.choice(PLACES), rng.choice(PEOPLE), rng.choice(THINGS)
        self.name = f"{self.place} {self.thing}"

    def year(self) -> int:
        """A year."""
        return self.rng.randint(1801, 2023)

    def number(self, most: int = 9_000) -> str:
        """A number from 11 on, with a comma for thousands."""
        return f"{self.rng.randint(11, most):,}"

    def sentence(self) -> str:
        """A sentence of prose."""
        rng = self.rng
        return rng.choice(
            [
                f"The {self.thing} of {self.place} was opened in {self.year()} by the engineer {rng.choice(PEOPLE)}.",
                f"In {self.year()} some {self.number()} visitors came to the {self.thing}, more than in any year before.",
                (
                    f"{rng.choice(PEOPLE)} wrote a report of {self.number(400)} pages "
                    f"on it, which the council of {self.place} accepted."
                ),
                f"Its northern wing, {self.number(90)} metres long, was rebuilt after the flood of {self.year()}.",
                f"The works took {self.number(60)} months and employed {self.number(3000)} people from {rng.choice(PLACES)}.",
            ]
        )

    def paragraph(self, count: int = 3) -> str:
        """So many sentences, which are facts of the page."""
        sentences = [self.sentence() for _ in range(count)]
        self.prose += [(sentence,) for sentence in sentences]
        return " ".join(sentences)

    def paragraphs(self, count: int = 4) -> str:
        """So many paragraphs as markup."""
        return "".join(f"<p>{self.paragraph()}</p>" for _ in range(count))

    def pairs(self, count: int = 6) -> list[tuple[str, str]]:
        """So many labels with their values, which are facts of the page."""
        rng = self.rng
        found = [
            ("Location", f"{rng.choice(PLACES)}, {rng.choice(PLACES)}"),
            ("Opened", f"{rng.randint(1, 28)} May {self.year()}"),
            ("Architect", rng.choice(PEOPLE)),
            ("Height", f"{self.number(300)} m"),
            ("Owner", f"City of {rng.choice(PLACES)}"),
            ("Visitors per year", self.number()),
            ("Building cost", f"€{self.number()} million"),
            ("Material", rng.choice(["granite", "steel", "oak", "brick"])),
        ]
        picked = rng.sample(found, count)
        self.facts += picked
        return picked

    def grid(self, columns: Sequence[str], rows: int = 5) -> list[list[str]]:
        """Rows of values; the facts are each row's values with their columns."""
        made = [[f"{self.rng.choice(PLACES)} {number}", *(self.number() for _ in columns[1:])] for number in range(1, rows + 1)]
        self.facts += [(row[0], name, value) for row in made for name, value in zip(columns[1:], row[1:], strict=True)]
        return made


def table(rows: Sequence[Sequence[str]], heads: Sequence[str] = (), *, row_heads: bool = False, attributes: str = "") -> str:
    """A table's markup."""
    top = f"<thead><tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr></thead>" if heads else ""
    first = "th" if row_heads else "td"
    body = "".join(f"<tr><{first}>{row[0]}</{first}>{''.join(f'<td>{value}</td>' for value in row[1:])}</tr>" for row in rows)
    return f"<table {attributes}>{top}<tbody>{body}</tbody></table>"


def links(w: Writer) -> str:
    names = [f"Gallery of {w.rng.choice(PLACES)} no. {number}" for number in range(8)]
    w.site += names
    return " · ".join(f'<a href="/{number}">{name}</a>' for number, name in enumerate(names))
