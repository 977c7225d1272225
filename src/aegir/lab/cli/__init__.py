"""Verbs that train or measure; `aegir.cli.main` lists them."""
