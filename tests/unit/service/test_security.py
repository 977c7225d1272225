"""Who may ask: addresses, names, origins and tokens."""

import asyncio

import httpx
import pytest
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from aegir.service.limits import Refused
from aegir.service.security import MOST_HEADERS, Access, Guard, host_name, is_loopback
from aegir_rl.base.errors import UsageError

TOKEN = "0123456789abcdef0123"
OPEN = Access()
CLOSED = Access("0.0.0.0", token=TOKEN, names=("tables.example.org",))


def refusal(access: Access, path: str = "/annotate", method: str = "POST", **headers: str) -> int:
    """The status with which a request is refused; 0 if it is not."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        access.check(method, path, Headers({"host": "127.0.0.1:8080", **given}))
    except Refused as error:
        return error.status
    return 0


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8080", 0),
        ("localhost:8080", 0),
        ("LOCALHOST", 0),
        ("[::1]:8080", 0),
        ("192.168.1.7:8080", 0),
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("", 421),
        ("localhost.evil.example:8080", 421),
        ("[::1].evil", 421),
        ("[::1]evil:80", 421),
        ("[::1", 421),
        ("[fe80::1%evil]", 421),
        ("localhost:80@evil", 421),
        ("localhost@evil", 421),
        ("localhost:evil", 421),
        ("localhost:80:80", 421),
        ("localhost/evil", 421),
        ("localhost ", 421),
    ],
)
def test_only_addresses_and_known_names_are_accepted_as_host(host: str, status: int):
    assert refusal(OPEN, host=host) == status


def test_a_name_is_known_when_it_was_allowed():
    token = f"Bearer {TOKEN}"
    assert refusal(CLOSED, host="Tables.Example.org:443", authorization=token) == 0
    assert refusal(OPEN, host="tables.example.org") == 421


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://127.0.0.1:8080", 0),
        ("https://127.0.0.1:8080", 0),
        ("http://127.0.0.1:9999", 403),
        ("http://evil.example", 403),
        ("null", 403),
        ("", 403),
    ],
)
def test_pages_of_other_origins_are_refused(origin: str, status: int):
    assert refusal(OPEN, origin=origin) == status


def test_forms_that_other_sites_send_are_refused():
    for site in ("cross-site", "same-site", "Same-Site", "sideways", ""):
        assert refusal(OPEN, sec_fetch_site=site) == 403
        assert refusal(OPEN, "/types/x", "DELETE", sec_fetch_site=site) == 403
    assert refusal(OPEN, sec_fetch_site="none") == 0
    assert refusal(OPEN, sec_fetch_site="same-origin") == 0
    assert refusal(OPEN, "/", "GET", sec_fetch_site="cross-site") == 0


def test_the_number_of_headers_is_bounded():
    named = {f"x-{number}": "" for number in range(MOST_HEADERS)}
    assert refusal(OPEN, **named) == 431  # with Host
    named.popitem()
    assert refusal(OPEN, **named) == 0


@pytest.mark.parametrize(
    ("given", "status"),
    [
        (f"Bearer {TOKEN}", 0),
        (f"bearer {TOKEN}", 0),
        (f"Bearer {TOKEN}x", 401),
        (f"Bearer {TOKEN[:-1]}", 401),
        ("Bearer", 401),
        (f"Basic {TOKEN}", 401),
        (TOKEN, 401),
        ("Bearer \u00fc", 401),
        ("", 401),
    ],
)
def test_the_token_must_be_right_to_the_last_letter(given: str, status: int):
    assert refusal(CLOSED, authorization=given) == status


def test_the_page_and_health_need_no_token_and_the_rest_does():
    assert [refusal(CLOSED, path, "GET") for path in ("/", "/page/main.js", "/health")] == [0, 0, 0]
    assert [refusal(CLOSED, path, "GET") for path in ("/metrics", "/types", "/status", "/runs")] == [401] * 4  # fmt: skip


def test_an_address_that_others_reach_needs_a_long_token():
    for host in ("0.0.0.0", "192.168.1.7", "::", "tables.example.org"):
        with pytest.raises(UsageError, match="needs --token"):
            Access(host)
    with pytest.raises(UsageError, match="the token has 5 characters; expected at least 16"):
        Access("127.0.0.1", token="short")
    assert all(is_loopback(host) for host in ("127.0.0.1", "127.8.9.1", "::1", "localhost"))
    assert host_name("[::1]:80") == "::1"


def test_every_response_has_the_headers_also_refusals():
    async def hello(_request: object) -> PlainTextResponse:
        return PlainTextResponse("hello")

    async def ask() -> list[httpx.Response]:
        app = Guard(Starlette(routes=[Route("/", hello), Route("/types", hello)]), CLOSED)
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return [await client.get(path) for path in ("/", "/types")]

    page, refused = asyncio.run(ask())
    assert (page.status_code, refused.status_code) == (200, 401)
    assert refused.headers["www-authenticate"] == "Bearer"
    assert "Authorization: Bearer TOKEN" in refused.json()["error"]
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert refused.headers["content-security-policy"].startswith("default-src 'none'")
    for response in (page, refused):
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["referrer-policy"] == "no-referrer"
        assert "unsafe" not in response.headers["content-security-policy"]
