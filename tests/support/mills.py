"""Six responses about mills with claims, gold labels and passages, for runs that need no model."""

#: The passages speak of the first claim of each, and say otherwise than the second.
ROWS = [
    {
        "id": f"mill-{number}",
        "prompt": f"Tell me about mill {number}.",
        "response": f"Mill {number} opened in 19{number}. Mill {number} has {number} wheels.",
        "claims": [
            {"id": "a", "text": f"Mill {number} opened in 19{number}.", "label": "S"},
            {"id": "b", "text": f"Mill {number} has {number} wheels.", "label": "NS"},
        ],
        "passages": [
            {"text": f"Mill {number} opened in 19{number}. Mill {number} has two wheels.", "link": "https://a.example"}
        ],
    }
    for number in range(11, 17)
]
