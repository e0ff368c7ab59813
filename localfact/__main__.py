"""`python -m localfact` is the command `localfact`."""

from localfact.cli.main import main

main()
