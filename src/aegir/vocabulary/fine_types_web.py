"""Finer types of the web and of software: addresses, files, hashes, tokens, markup."""

from aegir.vocabulary.fine_type import FineType

_S = "https://schema.org/"

WEB_AND_SOFTWARE = (
    FineType(
        "email_address", "email", "An e-mail address.", "ines@example.org", True, _S + "email"
    ),
    FineType("url", "URL", "A web address.", "https://example.org/about", False, _S + "url"),
    FineType(
        "image_url",
        "Photograph",
        "The web address of an image.",
        "https://example.org/a.jpg",
        False,
        _S + "image",
    ),
    FineType("domain_name", "URL", "An internet domain.", "example.org"),
    FineType("host_name", "URL", "The name of a computer on a network.", "db1.example.org"),
    FineType("ipv4_address", "IdentifierAT", "An IPv4 address.", "192.0.2.17", True),
    FineType("ipv6_address", "IdentifierAT", "An IPv6 address.", "2001:db8::17", True),
    FineType("ip_network", None, "A range of IP addresses.", "192.0.2.0/24"),
    FineType(
        "mac_address",
        "IdentifierAT",
        "The hardware address of a network device.",
        "00:1b:44:11:3a:b7",
        True,
    ),
    FineType("port", "Number", "A network port.", "8080"),
    FineType("url_path", "URL", "The path of a web address.", "/shop/item-17"),
    FineType("query_string", "URL", "The query of a web address.", "page=2&sort=price"),
    FineType(
        "user_agent",
        None,
        "How a browser introduces itself.",
        "Mozilla/5.0 (X11; Linux x86_64)",
        True,
    ),
    FineType("http_method", None, "An HTTP request method.", "GET"),
    FineType("http_status", "CategoryCode", "An HTTP response status.", "404"),
    FineType("mime_type", None, "A media type.", "application/json", False, _S + "encodingFormat"),
    FineType(
        "social_handle", "IdentifierAT", "A handle on a social network.", "@ines_okafor", True
    ),
    FineType("hashtag", None, "A hashtag.", "#travel"),
    FineType("file_path", None, "The path of a file or folder.", "/home/ines/notes.txt"),
    FineType("file_name", None, "The name of a file.", "report.pdf"),
    FineType("cloud_resource_name", None, "An Amazon resource name.", "arn:aws:s3:::bucket/key"),
    FineType(
        "uuid",
        "IdentifierAT",
        "A universally unique identifier.",
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    ),
    FineType("ulid", "IdentifierAT", "A sortable unique identifier.", "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
    FineType(
        "md5_hash",
        "IdentifierAT",
        "A hash of 32 hexadecimal digits.",
        "9e107d9d372bb6826bd81d3542a419d6",
    ),
    FineType(
        "sha1_hash",
        "IdentifierAT",
        "A hash of 40 hexadecimal digits.",
        "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
    ),
    FineType(
        "sha256_hash",
        "IdentifierAT",
        "A hash of 64 hexadecimal digits.",
        "d7a8fbb307d7809469ca9abcb0082e4f8d5651e46d3cdb762d02d0bf37c9e592",
    ),
    FineType("git_commit", "IdentifierAT", "The identifier of a Git commit.", "1b6077d"),
    FineType("jwt", None, "A JSON web token.", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", True),
    FineType("base64_data", None, "Binary data in base64.", "SGVsbG8sIHdvcmxkIQ=="),
    FineType(
        "semantic_version",
        None,
        "A version of software.",
        "2.14.0-rc.1",
        False,
        _S + "softwareVersion",
    ),
    FineType("json_object", None, "A JSON object.", '{"a": 1}'),
    FineType("json_array", None, "A JSON array.", "[1, 2, 3]"),
    FineType("html_fragment", None, "Text with HTML tags.", "<p>Hello</p>"),
    FineType("xml_fragment", None, "An XML element.", "<note><to>Ines</to></note>"),
    FineType(
        "markdown",
        None,
        "Text with Markdown marks.",
        "**Hello**, see [the site](https://example.org)",
    ),
)
