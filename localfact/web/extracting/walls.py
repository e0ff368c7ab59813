"""Recognises pages that withhold their text: sign-in forms, questions for consent, checks for robots."""

import re
from typing import Any

from localfact.web.fetching.failures import PageFailure, Reason

#: The most characters of a page that is a wall.
MOST_WALL_CHARACTERS = 600
#: Shorter lines are labels or buttons and are not counted.
LABEL_CHARACTERS = 40
#: The most characters of other text on a wall: about one sentence.
MOST_OTHER_CHARACTERS = 80

_SIGN_IN = re.compile(
    r"\b(?:(?:please )?(?:sign|log)[ -]?in\b.{0,40}\b(?:to (?:continue|view|read|access|see)|account|password|required)"
    r"|you must (?:be logged in|log in|sign in)|sign in to|log in to|subscribe to (?:continue|read)|members? only"
    r"|melden sie sich an|bitte (?:einloggen|anmelden)|se connecter|connectez-vous|identifiez-vous|inicia(?:r)? sesión"
    r"|accedi (?:per|al)|iniciar sessão|войдите|войти|ログイン|登录|登入|로그인)",
    re.IGNORECASE | re.DOTALL,
)
_CONSENT = re.compile(
    r"we (?:and our partners )?(?:use|store).{0,60}cookies|uses? cookies|before you continue|accept (?:all )?cookies"
    r"|cookie (?:policy|settings|consent)"
    r"|wir verwenden cookies|nous utilisons des cookies|utilizamos cookies|utilizziamo (?:i )?cookie",
    re.IGNORECASE | re.DOTALL,
)
_CHECK = re.compile(
    r"(?:enable|turn on|requires?|activate) javascript|javascript (?:is|to be) (?:disabled|required|enabled)"
    r"|checking your browser"
    r"|verify(?:ing)? (?:that )?you are (?:a )?human|are you a robot|unusual traffic|complete the captcha|just a moment\.\.\."
    r"|access denied|attention required",
    re.IGNORECASE,
)
_WORDS_OF_TEXT = re.compile(r"[^.!?。！？]{60,}[.!?。！？]")


def asks_for_password(root: Any) -> bool:
    """Whether a page has a field for a password."""
    return any((field.get("type") or "").strip().lower() == "password" for field in root.iter("input"))


def wall(text: str, title: str, with_password: bool) -> PageFailure | None:
    """Why a page shows no text of its own, if it is a wall; else None.

    Only a page with hardly any text can be one. With a password field a few lines make a wall; without one, words of a wall do
    if there is hardly any other text.

    Args:
        with_password: whether the page has a field for a password.
    """
    if len(text) > MOST_WALL_CHARACTERS:
        return None
    if with_password and len(_WORDS_OF_TEXT.findall(text)) <= 1:
        return PageFailure(reason=Reason.LOGIN_REQUIRED, detail="a form for a password and hardly any text")
    for pattern, reason, detail in (
        (_SIGN_IN, Reason.LOGIN_REQUIRED, "asks to sign in"),
        (_CONSENT, Reason.NO_TEXT, "asks for consent only"),
        (_CHECK, Reason.NO_TEXT, "checks its reader only"),
    ):
        if mostly(pattern, text) or (not text and pattern.search(title)):
            return PageFailure(reason=reason, detail=detail)
    return None


def mostly(pattern: re.Pattern[str], text: str) -> bool:
    """Whether a text has sentences that match the pattern and hardly any others."""
    if not pattern.search(text):
        return False
    sentences = [sentence for sentence in re.split(r"(?<=[.!?。！？])\s+|\n", text) if sentence.strip()]
    others = [len(sentence) for sentence in sentences if not pattern.search(sentence)]
    return sum(length for length in others if length >= LABEL_CHARACTERS) <= MOST_OTHER_CHARACTERS
