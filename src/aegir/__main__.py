"""`python -m aegir` is `aegir`."""

from aegir.cli.main import main

main()
