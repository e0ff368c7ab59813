"""localfact measures how factual long LLM text is, on your own machines."""
