"""How the small language model that takes sentences apart is made."""
