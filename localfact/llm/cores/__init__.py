"""What continues a model's token ids: vLLM in this process, or a server; the only room that knows vLLM."""
