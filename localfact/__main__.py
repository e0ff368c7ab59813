"""`python -m localfact` is the command `localfact`."""

from localfact.cli import main

main()
