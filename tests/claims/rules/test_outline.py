from collections import Counter

from localfact.claims.rules.outline import read_outline

TOWERS = """# Towers

## Morel Tower
It is high. It is old.
### History
- Built in 1889

1. **Bell Tower**
   - Opened in 1900
- **Old Tower**
- Closed
  - Rebuilt

| a | b |

## References
- Day, B. (1999)
"""


def test_a_line_knows_what_it_stands_under_and_in() -> None:
    dropped: Counter[str] = Counter()
    lines = [(line.text.text, line.heading, line.first, line.item, line.row) for line in read_outline(TOWERS, dropped)]
    assert lines == [
        ("It is high.", "Morel Tower", True, False, False),
        ("It is old.", "Morel Tower", False, False, False),
        ("Built in 1889", "Morel Tower", True, True, False),  # "History" is a side of the tower
        ("Opened in 1900", "Bell Tower", True, True, False),
        ("Closed", "Bell Tower", True, True, False),  # beside the item in bold, not below it
        ("Rebuilt", "Bell Tower", True, True, False),
        ("| a | b |", "Bell Tower", True, False, True),
    ]
    assert dropped == {"heading": 6, "reference": 1}
