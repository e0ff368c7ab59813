"""Claims by a small language model that comes with localfact, checked against the sentence that they are from."""
