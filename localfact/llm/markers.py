"""How a marker around untrusted text looks: `prompts/boundary.py` writes them, `layers/sealing.py` gives them other codes."""

import re
from typing import Literal, get_args

#: What the text between two markers is.
Kind = Literal["question", "topic", "before", "text", "after", "claim", "evidence", "premise", "hypothesis"]
#: The length of a marker's code; it is written as twice as many hexadecimal digits.
NONCE_BYTES = 4
#: A marker as `Boundary.enclose` writes it; no text between two markers has one.
MARKER = re.compile(
    rf"^(?P<before><<(?:end )?(?:{'|'.join(get_args(Kind))}) )(?P<code>[0-9a-f]{{{2 * NONCE_BYTES}}})>>$", re.MULTILINE
)
