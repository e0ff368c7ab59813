"""Without a folder for numba's cache, loops are compiled all the same."""

from localfact.inference import compiling


def test_a_cache_that_cannot_be_written_is_done_without(monkeypatch):
    import numba

    asked = []

    def njit(**options):
        asked.append(options)
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return numba.njit(**options)

    monkeypatch.setattr(compiling, "njit", njit)

    def half(number):
        return number / 2

    assert compiling.compile_lazily(half)(3) == 1.5
    assert asked == [{"cache": True, "nogil": True}, {"nogil": True}]
