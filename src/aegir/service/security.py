"""Who may ask: the checks before every request, and the headers on every response.

What it stops
  - pages of other sites that use a visitor's browser to reach the service: a request with a foreign `Origin`, one that changes
    something and that a browser says was sent by another site or another origin of the same site (`Sec-Fetch-Site`), or with a
    `Host` that is a name nobody allowed (DNS rebinding), gets 403 or 421;
  - anyone without the token, when there is one; it is compared in constant time;
  - headers in such numbers that looking through them takes time;
  - the page being framed, loading anything from elsewhere, or running a script that is not its own, and responses being
    read as another type than they state.

What it does not stop: someone who can read the traffic. Put a proxy with TLS in front of it, or a tunnel.

The page itself (HTML, style, script) holds no data and is served without a token; it asks for one. So is `/health`.
"""

import hmac
import ipaddress
import re
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from aegir.service.limits import Refused
from aegir.service.responses import refusal
from aegir_rl.base.errors import UsageError

LEAST_TOKEN = 16
LOOPBACK_NAMES = ("localhost",)
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
DATA_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
UNCHANGING = ("GET", "HEAD")
OWN_PAGES = ("same-origin", "none")
"""Values of `Sec-Fetch-Site` for requests of the page, and for those that a user makes by hand."""
MOST_HEADERS = 100
RESERVED_PLACE = "aegir.reserved_place"
"""Set in the state of a request whose connection was only taken for `/health`."""
HEALTH = "/health"
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^\s:@/\\?#\[\]%]+))(?::[0-9]{1,5})?")
"""An address in brackets or a name, and perhaps a port."""


@dataclass(frozen=True, slots=True)
class Access:
    """Where the service listens, and who may use it."""

    host: str = "127.0.0.1"
    port: int = 8080
    token: str | None = None
    names: tuple[str, ...] = ()
    """Host names under which the service may be addressed, beside localhost and addresses."""

    def __post_init__(self) -> None:
        if self.token is not None and (len(self.token) < LEAST_TOKEN or not self.token.isascii()):
            raise UsageError(
                f"the token has {len(self.token)} characters; expected at least {LEAST_TOKEN} plain ones, "
                "such as those of: openssl rand -hex 16"
            )
        if not is_loopback(self.host) and self.token is None:
            raise UsageError(
                f"--host {self.host} can be reached from other machines, which needs --token; make one with: "
                "openssl rand -hex 16"
            )

    def check(self, method: str, path: str, headers: Headers) -> None:
        """Raise `Refused` for a request that may not be served."""
        if len(headers) > MOST_HEADERS:
            raise Refused(
                431, f"the request has {len(headers):,} headers; expected at most {MOST_HEADERS}"
            )
        host = headers.get("host", "")
        if not self._is_known(host):
            raise Refused(
                421,
                f"the service is not known as {host!r}; use its address, or start it with --allow-host",
            )
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2].lower() != host.lower():
            raise Refused(403, f"requests from pages of {origin!r} are not accepted")
        site = headers.get("sec-fetch-site")
        if method not in UNCHANGING and site is not None and site.lower() not in OWN_PAGES:
            raise Refused(403, f"requests from other pages ({site[:20]}) are not accepted")
        if self.token is not None and not is_public(path) and not self._has_token(headers):
            raise Refused(
                401, "the token is missing or wrong; send the header Authorization: Bearer TOKEN"
            )

    def _is_known(self, host: str) -> bool:
        """Whether the Host header holds an address, which no one else's name server can point here, or a known name."""
        name = host_name(host)
        if not name:
            return False
        if name.lower() in (*LOOPBACK_NAMES, *(known.lower() for known in self.names)):
            return True
        return name.lower() == self.host.lower() or _is_address(name)

    def _has_token(self, headers: Headers) -> bool:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        # Compared whatever the scheme, so that the time tells nothing about either.
        same = hmac.compare_digest(
            token.strip().encode("utf-8", "replace"), (self.token or "").encode()
        )
        return same and scheme.lower() == "bearer"


class Guard:
    """Checks every request before the app sees it, and puts the security headers on every response."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"]
        is_reserved = scope.get("state", {}).get(RESERVED_PLACE, False)
        added = security_headers(path)
        if is_reserved:  # the next request may find an ordinary place
            added.append((b"connection", b"close"))

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        try:
            if is_reserved and path != HEALTH:
                raise too_many_connections()
            self._access.check(scope["method"], path, Headers(scope=scope))
        except Refused as error:
            response: Response = refusal(error)
            await response(scope, receive, send_guarded)
            return
        await self._app(scope, receive, send_guarded)


def is_public(path: str) -> bool:
    """Whether a path is served without a token: the page's own files, and whether the service is up."""
    return path in ("/", HEALTH) or path.startswith("/page/")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host.lower() in LOOPBACK_NAMES:
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def host_name(host: str) -> str:
    """Return a Host header without its port and brackets; an empty text for one that is written in any other way."""
    match = _HOST.fullmatch(host)
    return (match[1] or match[2]) if match else ""


def too_many_connections() -> Refused:
    """Return the refusal of a request for whose connection there is no room."""
    return Refused(503, "the service has too many connections; try again in a moment", 1)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def security_headers(path: str) -> list[tuple[bytes, bytes]]:
    """Return the headers that every response to this path has."""
    is_page = path == "/" or path.startswith("/page/")
    headers = {
        **HEADERS,
        "content-security-policy": PAGE_POLICY if is_page else DATA_POLICY,
        "cache-control": "no-cache" if is_page else "no-store",
    }
    return [(name.encode(), value.encode()) for name, value in headers.items()]
