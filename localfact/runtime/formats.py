"""The sentence that refuses a file of another version of localfact."""


def other_format(what: object, number: object, ours: int, cure: str) -> str:
    """Says that a file or folder has another format than this version's, and what to do.

    Args:
        what: the file or folder, perhaps with a word for it.
        number: its format.
        ours: the one that is read and written.
        cure: a sentence: how it is made again, or what to name in its place.
    """
    return f"{what} has format {number}, and this version of localfact reads format {ours} alone. {cure}"
