"""Numbers a state gives to people and companies: identity, social security, tax and register numbers.

    (country, stdnum module, shape, strong)

A *strong* format carries letters or separators, or a date and check digits, that chance does not imitate;
it is named from values alone once several distinct ones validate. A weak one (nine or eleven bare
digits with one check digit) needs a header that speaks of identity, tax or social security.
"""

import re

from aegir.annotators.rules.checksums import shaped_and_checked
from aegir.annotators.rules.reading import DIGIT
from aegir.annotators.rules.rule import Rule
from aegir.annotators.rules.shapes import Shape

_A = re.ASCII
_PEOPLE = (
    ("Spanish (DNI)", "es.dni", r"\d{8}[ -]?[A-HJ-NP-TV-Z]", True),
    ("Spanish (NIE)", "es.nie", r"[XYZ][ -]?\d{7}[ -]?[A-Z]", True),
    (
        "Italian (codice fiscale)",
        "it.codicefiscale",
        r"[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]",
        True,
    ),
    (
        "French (NIR)",
        "fr.nir",
        r"[12378] ?\d{2} ?\d{2} ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}",
        True,
    ),
    ("Finnish (henkilötunnus)", "fi.hetu", r"\d{6}[-+A]\d{3}[0-9A-Y]", True),
    ("Swedish (personnummer)", "se.personnummer", r"(?:\d{2})?\d{6}[-+]\d{4}", True),
    ("Danish (CPR)", "dk.cpr", r"[0-3]\d[01]\d\d{2}-\d{4}", True),
    ("Brazilian (CPF)", "br.cpf", r"\d{3}\.\d{3}\.\d{3}-\d{2}", True),
    ("Mexican (CURP)", "mx.curp", r"[A-Z]{4}\d{6}[HMX][A-Z]{5}[A-Z0-9]\d", True),
    ("Chinese (resident identity)", "cn.ric", r"\d{17}[\dX]", True),
    ("Korean (RRN)", "kr.rrn", r"\d{6}-\d{7}", True),
    ("Chilean (RUT)", "cl.rut", r"\d{1,2}\.?\d{3}\.?\d{3}-[\dkK]", True),
    ("Czech or Slovak (rodné číslo)", "cz.rc", r"\d{6}/\d{3,4}", True),
    ("Swiss (AHV)", "ch.ssn", r"756\.?\d{4}\.?\d{4}\.?\d{2}", True),
    ("Belgian (national register)", "be.nn", r"\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}", True),
    ("Irish (PPS)", "ie.pps", r"\d{7}[A-W][A-IW]?", True),
    ("Indian (Aadhaar)", "in_.aadhaar", r"[2-9]\d{3} \d{4} \d{4}", True),
    ("Indian (Aadhaar)", "in_.aadhaar", r"[2-9]\d{11}", False),
    ("Dutch (BSN)", "nl.bsn", r"\d{9}|\d{4}\.\d{2}\.\d{3}", False),
    ("Brazilian (CPF)", "br.cpf", r"\d{11}", False),
    ("Polish (PESEL)", "pl.pesel", r"\d{11}", False),
    ("Turkish (T.C. kimlik)", "tr.tckimlik", r"[1-9]\d{10}", False),
    ("Norwegian (fødselsnummer)", "no.fodselsnummer", r"\d{6} ?\d{5}", False),
    ("Romanian (CNP)", "ro.cnp", r"[1-8]\d{12}", False),
    ("Bulgarian (EGN)", "bg.egn", r"\d{10}", False),
    ("South African (ID)", "za.idnr", r"\d{13}", False),
    ("Croatian (OIB)", "hr.oib", r"\d{11}", False),
    ("Estonian (isikukood)", "ee.ik", r"[1-8]\d{10}", False),
    ("Malaysian (NRIC)", "my.nric", r"\d{6}-\d{2}-\d{4}", False),
    ("Thai (PIN)", "th.pin", r"[1-8]-?\d{4}-?\d{5}-?\d{2}-?\d", False),
)
_TAX = (
    ("Indian (PAN)", "in_.pan", r"[A-Z]{3}[ABCFGHLJPT][A-Z]\d{4}[A-Z]", True),
    ("Brazilian (CNPJ)", "br.cnpj", r"\d{2}\.\d{3}\.\d{3}/\d{4}-\d{2}", True),
    ("Russian (INN)", "ru.inn", r"\d{10}|\d{12}", False),
    ("US (EIN)", "us.ein", r"\d{2}-\d{7}", False),
    ("British (UTR)", "gb.utr", r"\d{10}K?", False),
    ("German (Steuer-ID)", "de.idnr", r"\d{2} ?\d{3} ?\d{3} ?\d{3}", False),
    ("Italian (partita IVA)", "it.iva", r"\d{11}", False),
    ("Argentine (CUIT)", "ar.cuit", r"\d{2}-\d{8}-\d", True),
    ("Australian (ABN)", "au.abn", r"\d{2} ?\d{3} ?\d{3} ?\d{3}", False),
)
_COMPANIES = (
    ("French (SIRET)", "fr.siret", r"\d{3} ?\d{3} ?\d{3} ?\d{5}", False),
    ("French (SIREN)", "fr.siren", r"\d{3} ?\d{3} ?\d{3}", False),
    ("German (Handelsregister)", "", r"HR[AB] ?\d{1,6}(?: ?[A-Z]{1,3})?", True),
    ("British (Companies House)", "", r"(?:SC|NI|OC|SO|FC)\d{6}|\d{8}", False),
    ("Australian (ACN)", "au.acn", r"\d{3} ?\d{3} ?\d{3}", False),
)
_SSN = r"(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}"
_NINO = r"(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]"


def _rule(name: str, noun: str, country: str, module: str, shape: str, strong: bool) -> Rule:
    matches = Shape(shape, _A).fullmatch
    return Rule(
        name,
        f"{country} {noun}",
        shaped_and_checked(matches, module) if module else matches,
        sure=0.93 if strong else 0.0,
        sure_with_header=0.96,
        distinct=3,
        needs=DIGIT,
        shortest=5,
        longest=24,
        most_values=20,
    )


RULES = (
    Rule(
        "us_ssn",
        "US social security numbers",
        Shape(_SSN, _A).fullmatch,
        sure=0.9,
        distinct=3,
        needs=DIGIT,
        shortest=11,
        longest=11,
    ),
    Rule(
        "uk_nino",
        "UK national insurance numbers",
        Shape(_NINO, _A).fullmatch,
        sure=0.95,
        distinct=2,
        needs=DIGIT,
        shortest=9,
        longest=13,
    ),
    *(_rule("national_id", "identity numbers", *row) for row in _PEOPLE),
    *(_rule("tax_number", "tax numbers", *row) for row in _TAX),
    *(_rule("company_number", "company register numbers", *row) for row in _COMPANIES),
)
