"""Models other than the language model: cards, weights, downloads; the embedder and cross-encoders."""
