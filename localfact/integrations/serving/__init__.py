"""`localfact serve`: texts checked and files evaluated over HTTP, by one engine."""
