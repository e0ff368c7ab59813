"""Which hosts are independent: those of different registrable domains, as one owner may have any number of hosts below one."""

#: Below a country's domain, what is no owner's name: in "news.example.co.uk" the owner's is "example.co.uk".
_SECOND_LEVEL = ("ac", "co", "com", "edu", "gob", "gouv", "gov", "mil", "ne", "net", "nhs", "nom", "or", "org", "sch")


def registrable(host: str) -> str:
    """The domain that somebody registers: the last two parts of a host, or three below a country's "co", "ac" and the like.

    A rule of thumb, without the public list of suffixes; an address of numbers, and a name of one part, stay as they are.
    """
    parts = host.split(".")
    if len(parts) < 3 or parts[-1].isdigit() or ":" in host:
        return host
    several = len(parts[-1]) == 2 and parts[-2] in _SECOND_LEVEL
    return ".".join(parts[-3:] if several else parts[-2:])
