"""Clean contacts: name, mail address and telephone number."""

from typing import Any


def clean_phone(text: str, country: str) -> str | None:
    """Digits with a plus and the country in front; 00 stands for the plus, one 0 for the country; None below 6 digits."""
    digits = "".join(sign for sign in text if sign.isdigit())
    if len(digits) < 6:
        return None
    if text.strip().startswith("+"):
        return f"+{digits}"
    if digits.startswith("00"):
        return f"+{digits[2:]}"
    return f"+{country}{digits.removeprefix('0')}"


def clean_mail(text: str) -> str | None:
    """In small letters; None unless something stands on both sides of one @, with a point in what follows."""
    user, sign, host = text.strip().lower().partition("@")
    if not user or not sign or "@" in host or "." not in host.strip("."):
        return None
    return f"{user}@{host}"


def clean_contact(block: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Name with single blanks, mail and phone; None for what is absent."""
    return {
        "name": " ".join(block.get("name", "").split()) or None,
        "mail": clean_mail(block.get("mail", "")),
        "phone": clean_phone(block.get("phone", ""), settings["country"]),
    }
