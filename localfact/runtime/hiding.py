"""Finds a secret in what a server says: it was sent there, and must not come back into messages, transcripts or results."""

import re
from http.cookiejar import CookieJar, DefaultCookiePolicy

#: Letters and digits from which a secret is one that chance does not repeat, so that other spellings of it are looked for.
LEAST = 8
_BETWEEN = re.compile(r"[\W_]+")


def repeats(text: str, secret: str) -> bool:
    """Whether a text holds the secret; of at least LEAST letters and digits also in other case, or with signs in between."""
    if not secret:
        return False
    bare = _BETWEEN.sub("", secret).casefold()
    return secret in text or (len(bare) >= LEAST and bare in _BETWEEN.sub("", text).casefold())


def hide(text: str, secret: str, shown: str) -> str:
    """The text with `shown` in place of the secret; in place of all of it, where it spells the secret in another way."""
    plain = text.replace(secret, shown) if secret else text
    return shown if repeats(plain.replace(shown, ""), secret) else plain


def no_cookies() -> CookieJar:
    """Cookies for a client that takes none from anybody."""
    return CookieJar(DefaultCookiePolicy(allowed_domains=()))
