"""The language model: one protocol, the in-process vLLM engine, its transcript, and a scripted stand-in for tests."""
