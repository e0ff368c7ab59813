"""Addresses of the web: their hosts, and they themselves without what opens them, which is nowhere kept or printed: passwords,
tokens, signatures and ids of sessions.

Names of parameters are known words of that meaning; `id`, `q`, `page`, `key` and `code`, which say what a page shows, stay.
"""

import re
from urllib.parse import quote, unquote, urlsplit

#: User name and password before a host.
USER = re.compile(r"//[^/?#]+@")
#: Names of parameters in lower case, without all but letters and digits; a token that turns a page is none.
SECRET_NAME = re.compile(
    r"(?!(?:(?:next|prev|previous)(?:page)?|page|continuation|cursor)token$).*token"
    r"|.*(?:api|access|secret|auth|authorization|subscription|private|signing|consumer)key(?:id)?"
    r"|.*(?:secret|password|passwd|passphrase|signature|credentials?|sess(?:ion)?(?:id|key))"
    r"|pass|pwd|sig|jwt|bearer|authorization|hmac|cftoken|samlresponse|aspsessionid.*|xamz.*|xgoog.*"
)
#: Of these names, a value as long as this is an id of somebody; a shorter one may be a session of parliament.
DOUBTFUL_NAME = re.compile(r"session|sess|sid|auth|ticket")
LONG = 16
#: How often an address in a parameter of an address is looked into.
DEEPEST = 3


def address_without_secrets(address: str, depth: int = DEEPEST) -> str:
    """The address without user and password, and without parameters whose names say that they are secret.

    Nothing else in it changes, so addresses that differ in such parts alone become equal. Any text may be given.
    """
    address = USER.sub("//", address) if "@" in address else address
    if "=" not in address:
        return address
    # Parameters stand in the path (";jsessionid="), the query, and the fragment ("#access_token=", "#!/page?token=").
    before, mark, fragment = address.partition("#")
    path, question, query = before.partition("?")
    kept = "/".join(without_secret_parameters(step, ";", depth, first=False) for step in path.split("/"))
    plain = without_secret_parameters(query, "&", depth)
    kept += question + plain if plain or not query else ""
    inner = "?" in fragment and depth > 0
    plain = address_without_secrets(fragment, depth - 1) if inner else without_secret_parameters(fragment, "&", depth)
    return kept + mark + plain if plain or not fragment else kept


def without_secret_parameters(text: str, separator: str, depth: int, *, first: bool = True) -> str:
    """The parameters that are not secret; `first` is whether the text before the first separator is one."""
    parts = text.split(separator)
    kept = [
        without_secrets_inside(part, separator, depth)
        for number, part in enumerate(parts)
        if not is_secret(part) or not (number or first)
    ]
    return separator.join(kept)


def without_secrets_inside(parameter: str, separator: str, depth: int) -> str:
    """A parameter without the secrets in its value: further parameters behind a ";", or another address."""
    if separator == "&" and ";" in parameter:
        return without_secret_parameters(parameter, ";", depth)
    name, equals, value = parameter.partition("=")
    if not depth or not equals:
        return parameter
    inner = unquote(value)
    plain = address_without_secrets(inner, depth - 1)
    if plain == inner:
        return parameter
    return f"{name}={plain if inner == value else quote(plain, safe='')}"


def is_secret(parameter: str) -> bool:
    """Whether the name of "name=value" says that the value is secret."""
    name, equals, value = parameter.partition("=")
    plain = re.sub(r"[^a-z0-9]", "", unquote(name).lower())
    secret = SECRET_NAME.fullmatch(plain) or (DOUBTFUL_NAME.fullmatch(plain) and len(value) >= LONG)
    return bool(equals and secret)


def host_of(link: str | None) -> str | None:
    """The lower-case host of a link, without the dot that may end it; None for a path, a name, or nothing."""
    try:
        host = urlsplit(link).hostname if link else None
    except ValueError:
        return None
    return host.rstrip(".") if host else None
