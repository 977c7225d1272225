"""Finer types of things and money: product, publication and security codes, accounts, prices."""

from aegir.vocabulary.fine_type import FineType

_S = "https://schema.org/"
_ID = "IdentifierAT"

THINGS_AND_MONEY = (
    FineType(
        "isbn",
        _ID,
        "An international standard book number.",
        "978-3-16-148410-0",
        False,
        _S + "isbn",
    ),
    FineType(
        "issn", _ID, "An international standard serial number.", "2049-3630", False, _S + "issn"
    ),
    FineType("doi", _ID, "A digital object identifier.", "10.1000/182", False, _S + "identifier"),
    FineType("orcid", _ID, "A researcher's ORCID.", "0000-0002-1825-0097", True, _S + "identifier"),
    FineType(
        "gtin", _ID, "A trade item number: EAN, UPC or GTIN.", "4006381333931", False, _S + "gtin"
    ),
    FineType("asin", _ID, "An Amazon product code.", "B07XJ8C8F5", False, _S + "productID"),
    FineType("sku", _ID, "A seller's own stock code.", "TS-1042-BLK", False, _S + "sku"),
    FineType("isrc", _ID, "A sound recording code.", "USRC17607839", False, _S + "isrcCode"),
    FineType(
        "youtube_video_id", "CreativeWork", "The identifier of a YouTube video.", "dQw4w9WgXcQ"
    ),
    FineType(
        "occupation_code",
        "CategoryCode",
        "An O*NET-SOC code of an occupation.",
        "15-1252.00",
        False,
        _S + "occupationalCategory",
    ),
    FineType(
        "payment_methods",
        "paymentAccepted",
        "Means of payment that are accepted.",
        "Cash, Visa",
        False,
        _S + "paymentAccepted",
    ),
    FineType(
        "vin",
        _ID,
        "A vehicle identification number.",
        "1HGCM82633A004352",
        True,
        _S + "vehicleIdentificationNumber",
    ),
    FineType("imei", _ID, "The serial number of a mobile phone.", "490154203237518", True),
    FineType("iccid", _ID, "The serial number of a SIM card.", "8943020074351718725", True),
    FineType("cas_number", _ID, "A CAS registry number of a substance.", "7732-18-5"),
    FineType("loinc_code", "CategoryCode", "A LOINC code of a laboratory test.", "718-7"),
    FineType(
        "chemical_formula", None, "A chemical formula.", "C6H12O6", False, _S + "molecularFormula"
    ),
    FineType(
        "dna_sequence",
        None,
        "A nucleotide sequence.",
        "ATGGCCATTGTAATG",
        False,
        _S + "hasBioPolymerSequence",
    ),
    FineType(
        "iban", _ID, "An international bank account number.", "AT61 1904 3002 3457 3201", True
    ),
    FineType("bic", _ID, "A bank identifier (SWIFT) code.", "BKAUATWW"),
    FineType("payment_card", _ID, "The number of a payment card.", "4111 1111 1111 1111", True),
    FineType("card_security_code", None, "The security code of a payment card.", "737", True),
    FineType(
        "account_number",
        _ID,
        "The number of a bank or customer account.",
        "0012345678",
        True,
        _S + "accountId",
    ),
    FineType("bank_routing_number", _ID, "A United States bank routing number.", "021000021"),
    FineType(
        "lei", _ID, "A legal entity identifier.", "5493001KJTIIGC8Y1R12", False, _S + "leiCode"
    ),
    FineType("company_number", _ID, "A number in a company register.", "HRB 12345"),
    FineType(
        "tax_number", _ID, "A tax number of a person or company.", "ABCPE1234F", True, _S + "taxID"
    ),
    FineType("vat_number", _ID, "An EU or British VAT number.", "ATU13585627", False, _S + "vatID"),
    FineType("isin", _ID, "A securities code.", "US0378331005"),
    FineType("cusip", _ID, "A North American securities code.", "037833100"),
    FineType("sedol", _ID, "A British securities code.", "B0YBKJ7"),
    FineType("figi", _ID, "A financial instrument code.", "BBG000B9XRY4"),
    FineType("ticker", _ID, "The ticker symbol of a security.", "AAPL", False, _S + "tickerSymbol"),
    FineType(
        "currency_code", "currency", "An ISO 4217 currency code.", "EUR", False, _S + "currency"
    ),
    FineType(
        "currency_amount",
        "price",
        "An amount of money.",
        "€ 1,250.00",
        False,
        _S + "MonetaryAmount",
    ),
    FineType(
        "item_price", "price", "The price of something on offer.", "19.90", False, _S + "price"
    ),
    FineType(
        "price_range",
        "priceRange",
        "A range or level of prices.",
        "€10 - €20",
        False,
        _S + "priceRange",
    ),
    FineType(
        "salary", "MonetaryAmount", "What a person is paid.", "54000", True, _S + "baseSalary"
    ),
    FineType(
        "pay_rate",
        "MonetaryAmount",
        "Pay for a period of work.",
        "$18 per hour",
        False,
        _S + "baseSalary",
    ),
)
