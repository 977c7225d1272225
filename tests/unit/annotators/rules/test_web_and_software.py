"""Web and software: each finer type is found, and its nearest look-alike is not."""

import pytest

from aegir.annotators.rules.judge import judge
from aegir.tables.table import Column
from aegir.vocabulary.fine_types_web import WEB_AND_SOFTWARE as THEME

# name: header, cells that are of this type, another header, cells that only look like it
CASES: dict[str, tuple[str | None, str, str | None, str]] = {
    "email_address": (
        None,
        "ines@example.org ¦ pnovak&#64;example.com",
        None,
        "ines@example ¦ @pnovak",
    ),
    "url": (
        None,
        "https://example.org/about ¦ www.example.com/x",
        None,
        "https://schema.org/InStock ¦ https://schema.org/SoldOut",
    ),
    "image_url": (
        None,
        "https://example.org/a.jpg ¦ //cdn.example.org/b.png?x=1",
        None,
        "https://example.org/jpg ¦ https://example.org/png",
    ),
    "domain_name": (None, "example.org ¦ example.co.uk", None, "report.md ¦ notes.txt"),
    "host_name": (None, "db1.example.org ¦ www.shop.example.com", None, "1.5 ¦ 2.7"),
    "ipv4_address": (None, "192.0.2.17 ¦ 198.51.100.3", None, "192.0.2.317 ¦ 198.51.100.999"),
    "ipv6_address": (None, "2001:db8::17 ¦ fe80::1", None, "14:30:00 ¦ 09:05:59"),
    "ip_network": (None, "192.0.2.0/24 ¦ 10.0.0.0/8", None, "192.0.2.0/54 ¦ 10.0.0.0/99"),
    "mac_address": (
        None,
        "00:1b:44:11:3a:b7 ¦ 00-1B-44-11-3A-B8",
        None,
        "00:1b:44:11:3a ¦ 00-1B-44-11-3A",
    ),
    "port": ("dst_port", "8080 ¦ 443", None, "8080 ¦ 443"),
    "url_path": (None, "/shop/item-17 ¦ /about", None, "/etc/hosts ¦ /usr/bin/env"),
    "query_string": (None, "page=2&sort=price ¦ ?q=1", None, "a = b ¦ c = d"),
    "user_agent": (
        None,
        "Mozilla/5.0 (X11; Linux x86_64) ¦ curl/8.1.2",
        None,
        "Mozilla Foundation ¦ curling",
    ),
    "http_method": (None, "GET ¦ POST", None, "GETTER ¦ POSTER"),
    "http_status": ("status_code", "200 ¦ 404 ¦ 503", None, "200 ¦ 404 ¦ 503"),
    "mime_type": (None, "application/json ¦ text/html; charset=utf-8", None, "and/or ¦ he/she"),
    "social_handle": (None, "@ines_okafor ¦ @pnovak", None, "@ home ¦ @ work"),
    "hashtag": (None, "#travel ¦ #food", None, "#fafafa ¦ #1e90ff"),
    "file_path": (None, "/home/ines/notes.txt ¦ C:\\temp\\a.csv", None, "and/or ¦ he/she"),
    "file_name": (None, "report.pdf ¦ data 2021.csv", None, "Mr. Smith ¦ St. Ives"),
    "cloud_resource_name": (None, "arn:aws:s3:::bucket/key", None, "urn:isbn:9780140449136"),
    "uuid": (
        None,
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        None,
        "3f2504e0-4f89-11d3-9a0c-0305e82c330",
    ),
    "ulid": (
        None,
        "01ARZ3NDEKTSV4RRFFQ69G5FAV ¦ 01BX5ZZKBKACTAV9WEVGEMMVRZ",
        None,
        "THISISNOTANULIDATALLSIRBUT ¦ ANOTHERWORDOFTWENTYSIXLETT",
    ),
    "md5_hash": (
        None,
        "9e107d9d372bb6826bd81d3542a419d6",
        None,
        "12345678901234567890123456789012",
    ),
    "sha1_hash": (
        None,
        "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
        "commit",
        "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
    ),
    "sha256_hash": (
        None,
        "d7a8fbb307d7809469ca9abcb0082e4f8d5651e46d3cdb762d02d0bf37c9e592",
        None,
        "d7a8fbb307d7809469ca9abcb0082e4f8d5651e46d3cdb762d02d0bf37c9e5",
    ),
    "git_commit": ("commit", "1b6077d ¦ ceeb2c2", None, "1b6077d ¦ ceeb2c2"),
    "jwt": (None, "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", None, "eye.jay.why"),
    "base64_data": (
        None,
        "SGVsbG8sIHdvcmxkIQ== ¦ QSBsb25nZXIgdGV4dCE=",
        None,
        "SupercalifragilisticX ¦ Donaudampfschifffahrt",
    ),
    "semantic_version": (None, "2.14.0-rc.1 ¦ 0.9.3", None, "212.555.0199 ¦ 415.555.0123"),
    "json_object": (None, '{"a": 1} ¦ {"a": 2}', None, "{a} ¦ {b}"),
    "json_array": (None, "[1, 2, 3] ¦ []", None, "[sic] ¦ [note]"),
    "html_fragment": (None, "<p>Hello</p> ¦ one<br/>two", None, "a < b ¦ c > d"),
    "xml_fragment": (None, "<note><to>Ines</to></note> ¦ <note/>", None, "<3 ¦ <5"),
    "markdown": (
        None,
        "**Hello**, see [the site](https://example.org)",
        None,
        "2 ** 3 ¦ [see note]",
    ),
}


def fine_type_of(header: str | None, cells: str) -> str | None:
    return judge(Column(header, tuple(cells.split(" ¦ ")))).fine_type


def test_every_type_of_this_theme_has_a_case() -> None:
    assert set(CASES) == {fine_type.name for fine_type in THEME}


@pytest.mark.parametrize("name", CASES)
def test_it_is_found(name: str) -> None:
    header, cells, _, _ = CASES[name]
    assert fine_type_of(header, cells) == name


@pytest.mark.parametrize("name", CASES)
def test_a_look_alike_is_refused(name: str) -> None:
    _, _, header, cells = CASES[name]
    assert fine_type_of(header, cells) != name
