"""Files behind addresses, read in ranges: https:// by the standard library, s3://, gs:// and abfs:// by fsspec (extra `lake`).

    files = open_files("s3://bucket/lake/")
    files.size("bucket/lake/a.parquet"), files.read("bucket/lake/a.parquet", 0, 8), files.taken

Promises
  - only the ranges that are asked for are transferred, and `taken` counts their bytes;
  - nothing is sent anywhere but to the address: redirects are refused, with the place they lead to;
  - every failure is an `UnreadableTable` of one sentence: no such file, no credentials and which are missing, refused, too slow;
  - user names, passwords and parameters of an address are in no sentence and no answer.

Credentials are those of the environment, as each provider names them (AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL, …).
"""

import http.client
import io
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol
from urllib.parse import SplitResult, urlsplit

from aegir.tables.formats import STORES, WEB, show_address
from aegir_rl.base.errors import UnreadableTable, UsageError

CREDENTIALS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_ENDPOINT_URL for another server than Amazon's",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS",
    "abfs": "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
    "az": "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
}
SECONDS = 30
"""How long an answer of a server may take."""
REDIRECTS = range(300, 400)


class RemoteFiles(Protocol):
    """Files of one server; `taken` counts the bytes that were transferred."""

    taken: int

    def size(self, path: str) -> int:
        """Bytes of a file."""

    def read(self, path: str, start: int, end: int) -> bytes:
        """The bytes from `start` up to `end`."""

    def find(self, path: str) -> dict[str, int]:
        """The files below a folder, by path, with their sizes; none if there is no such folder."""


def open_files(address: str) -> RemoteFiles:
    """The files of the server of an address; raise if the package for it is missing."""
    scheme = address.partition("://")[0].lower()
    return WebFiles() if scheme in WEB else StoreFiles(scheme)


class WebFiles:
    """Files of web servers that answer requests for ranges; the path of a file is its whole address."""

    def __init__(self) -> None:
        self.taken = 0

    def size(self, path: str) -> int:
        with self._asked("HEAD", path, {}) as (response, _):
            length = response.headers.get("Content-Length", "")
        if not length.isdigit():
            raise UnreadableTable(
                f"{show_address(path)} has no length; download it, and give the file"
            )
        return int(length)

    def read(self, path: str, start: int, end: int) -> bytes:
        if start >= end:
            return b""
        with self._asked("GET", path, {"Range": f"bytes={start}-{end - 1}"}) as (response, name):
            content = response.read(end - start + 1)
            self.taken += len(content)
            if response.status != http.client.PARTIAL_CONTENT and (start or len(content) > end):
                raise UnreadableTable(
                    f"the server of {name} does not answer requests for a part of a file; download it, and give the file"
                )
        if len(content) != end - start:
            raise UnreadableTable(
                f"{name} ended early: {len(content):,} of {end - start:,} bytes came; try again"
            )
        return content

    def find(self, path: str) -> dict[str, int]:
        raise UsageError(
            f"{show_address(path)} is a web address, which cannot be listed; name a file"
        )

    @contextmanager
    def _asked(
        self, method: str, path: str, headers: dict[str, str]
    ) -> Iterator[tuple[http.client.HTTPResponse, str]]:
        parts, name = urlsplit(path), show_address(path)
        connection = _connect(parts)
        try:
            target = parts.path or "/"
            target += f"?{parts.query}" if parts.query else ""
            connection.request(method, target, headers={"Accept-Encoding": "identity", **headers})
            response = connection.getresponse()
            if response.status in REDIRECTS:
                place = show_address(response.headers.get("Location", "elsewhere"))
                raise UnreadableTable(
                    f"{name} leads to {place}, which was not asked for; give that address"
                )
            if response.status >= 400:
                raise UnreadableTable(
                    f"{name} cannot be read ({response.status} {response.reason})"
                )
            yield response, name
        except TimeoutError:
            raise UnreadableTable(f"{name} did not answer within {SECONDS} seconds") from None
        except (OSError, http.client.HTTPException, UnicodeError) as error:
            raise UnreadableTable(f"{name} cannot be reached ({_reason(error)})") from None
        finally:
            connection.close()


def _connect(parts: SplitResult) -> http.client.HTTPConnection:
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host:
        raise UsageError(
            f"{parts.scheme}:// needs a host and a path, such as {parts.scheme}://example.org/a.csv"
        )
    if parts.scheme == "https":
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(host, port, timeout=SECONDS, context=context)
    return http.client.HTTPConnection(host, port, timeout=SECONDS)


class StoreFiles:
    """Files of an object store, by fsspec."""

    def __init__(self, scheme: str) -> None:
        self.taken = 0
        self._scheme = scheme
        try:
            import fsspec

            self._store: Any = fsspec.filesystem(scheme, use_listings_cache=False)
        except ImportError:
            package = STORES[scheme]
            raise UsageError(
                f"{scheme}:// addresses need {package}; pip install 'aegir-tables[lake]' {package}"
            ) from None
        except Exception as error:  # providers look for credentials as soon as they are made
            raise self._failure(f"{scheme}://", error) from None

    def size(self, path: str) -> int:
        size = self._ask(path, lambda: self._store.info(path)["size"])
        if size is None:
            raise UnreadableTable(f"{show_address(path)} is no file")
        return int(size)

    def read(self, path: str, start: int, end: int) -> bytes:
        if start >= end:
            return b""
        content: bytes = self._ask(path, lambda: self._store.cat_file(path, start=start, end=end))
        self.taken += len(content)
        return content

    def find(self, path: str) -> dict[str, int]:
        found = self._ask(path, lambda: self._store.find(path, detail=True))
        return {
            f"{self._scheme}://{name}": int(info["size"] or 0)
            for name, info in sorted(found.items())
            if info.get("type") == "file"
        }

    def _ask(self, path: str, ask: Any) -> Any:
        try:
            return ask()
        except Exception as error:  # each provider has exceptions of its own
            raise self._failure(show_address(path), error) from None

    def _failure(self, name: str, error: Exception) -> UnreadableTable:
        kind = type(error).__name__
        if isinstance(error, FileNotFoundError):
            return UnreadableTable(f"there is no file {name}")
        if "Credential" in kind or isinstance(error, PermissionError):
            needed = CREDENTIALS[self._scheme]
            return UnreadableTable(
                f"{name} may not be read ({_reason(error)}); set {needed} for an account that may"
            )
        return UnreadableTable(f"{name} cannot be read ({kind}: {_reason(error)})")


class RangeFile(io.RawIOBase):
    """A remote file as a seekable binary file."""

    def __init__(self, files: RemoteFiles, path: str) -> None:
        super().__init__()
        self._files, self._path = files, path
        self.size = files.size(path)
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self.size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        end = min(self._at + len(view), self.size)
        content = self._files.read(self._path, self._at, end) if end > self._at else b""
        view[: len(content)] = content
        self._at += len(content)
        return len(content)


def _reason(error: Exception) -> str:
    return " ".join(str(getattr(error, "strerror", None) or error).split())[:200] or "no reason"
