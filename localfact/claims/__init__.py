"""Taking a response apart into claims: one file a strategy."""
