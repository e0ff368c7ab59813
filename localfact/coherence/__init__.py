"""What a text's claims say of one another: which pairs are compared, what rules see in them, and what comes of it."""
