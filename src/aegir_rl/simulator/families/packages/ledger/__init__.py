"""Totals of a ledger: read a delimited file, clean its rows, add them up."""
