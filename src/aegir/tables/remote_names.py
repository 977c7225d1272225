"""Addresses of files: which schemes there are, and how an address is shown. Small, because every run loads it."""

from urllib.parse import urlsplit

from aegir.tables.formats import is_url

WEB = ("http", "https")
STORES = {"s3": "s3fs", "gs": "gcsfs", "abfs": "adlfs", "az": "adlfs"}
"""Schemes of object stores, and the package that fsspec needs for each."""


def is_remote(source: object) -> bool:
    """Whether a source is an address of files."""
    return is_url(source) and str(source).partition("://")[0].lower() in (*WEB, *STORES)


def shown(address: str) -> str:
    """An address as it may be shown: without user, password, parameters and fragment."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
