"""Schema.org enumerations as publishers write them: URLs, bare members, spaced words, repeated values.

    "https://schema.org/InStock", "InStock", "In stock", "OnlineOnly; OnlineOnly"  →  ItemAvailability

The member lists are closed, so a match is nearly proof; words that everyday text shares with an
enumeration ("New", "Cash") count as members only inside it and make the whole value match or not at all.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from aegir.annotators.rules.gazetteers.word_sets import words
from aegir.annotators.rules.reading import LETTER, NUMERIC, Reading
from aegir.annotators.rules.rule import Rule

_MEMBERS = {
    "ItemAvailability": "backorder discontinued instock instoreonly limitedavailability madetoorder onlineonly outofstock preorder presale reserved soldout",
    "OfferItemCondition": "newcondition usedcondition refurbishedcondition damagedcondition condition new used refurbished likenew brandnew",
    "BookFormatType": "paperback hardcover hardback ebook audiobook audiobookformat graphicnovel kindle kindleedition massmarketpaperback boardbook libraryformat taschenbuch gebunden gebundenesbuch broché broche relié poche grandformat softcover spiralbound epub",
    "EventStatusType": "eventscheduled eventcancelled eventpostponed eventrescheduled eventmovedonline scheduled cancelled postponed rescheduled",
    "EventAttendanceModeEnumeration": "offlineeventattendancemode onlineeventattendancemode mixedeventattendancemode",
    "RestrictedDiet": "diabeticdiet glutenfreediet halaldiet hindudiet kosherdiet lowcaloriediet lowfatdiet lowlactosediet lowsaltdiet vegandiet vegetariandiet",
    "DeliveryMethod": "deliverymodedirectdownload deliverymodefreight deliverymodemail deliverymodeownfleet deliverymodepickup dhl federalexpress ups onsitepickup parcelservice lockerdelivery",
    "DayOfWeek": "monday tuesday wednesday thursday friday saturday sunday publicholidays mondayopens",
    "paymentAccepted": "cash credit card creditcard debit debitcard check cheque cheques paypal visa mastercard americanexpress amex diners dinersclub discover jcb invoice banktransfer byinvoice bybanktransferinadvance cod directdebit checkinadvance googlecheckout maestro applepay googlepay bitcoin eurocard vpay giropay moneyorder",
}
# Right on every one of 308 labelled columns (7 to 60 of each kind), shrunk by (n + 1) / (n + 2).
_STRENGTH = {
    "ItemAvailability": 0.98,
    "OfferItemCondition": 0.98,
    "BookFormatType": 0.97,
    "EventStatusType": 0.98,
    "EventAttendanceModeEnumeration": 0.98,
    "RestrictedDiet": 0.96,
    "DeliveryMethod": 0.97,
    "DayOfWeek": 0.97,
    "paymentAccepted": 0.9,
}
_NOUN = {
    "ItemAvailability": "availabilities",
    "OfferItemCondition": "item conditions",
    "BookFormatType": "book formats",
    "EventStatusType": "event statuses",
    "EventAttendanceModeEnumeration": "event attendance modes",
    "RestrictedDiet": "diets",
    "DeliveryMethod": "delivery methods",
    "DayOfWeek": "weekdays",
    "paymentAccepted": "means of payment",
}
_KIND_OF: dict[str, str] = {
    member: kind for kind, members in _MEMBERS.items() for member in members.split()
}
_PAYMENT_WORDS = frozenset(_MEMBERS["paymentAccepted"].split()) | words(
    "cards express bank club master transfer transfers carte bleue coupons voucher vouchers online payments paytm ach atm"
    " bonifico contanti holiday restaurant giro girocard bancar espèces chèque chèques kreditkarte rechnung barzahlung efectivo"
    " tarjeta transferencia sofort klarna überweisung vorkasse nachnahme tarjetas crédito credito débito debito carta carte carta"
    " assegno bancomat espece especes cheques cheque checks pay apple google stripe venmo wire unionpay carta maestro pin ec contactless"
)
_ONLY_WITH_OTHERS = words(
    "cards express bank club master online payments holiday restaurant pay apple google wire carte carta"
)
_FILLERS = words(
    "all major accepted accept only and or und et y e by in on de di da per via the with we also of to"
)
_PREFIX = re.compile(r"https?://(?:www\.)?(?:schema\.org/|purl\.org/goodrelations/v1#)", re.I)
_SQUEEZED = re.compile(r"[\s_./-]+")
_SEPARATOR = re.compile(r"[\s,;|&/]+")


@lru_cache(maxsize=4096)
def enumeration_of(value: str) -> str | None:
    """The enumeration every part of the value belongs to; None when there is no single one."""
    text = _PREFIX.sub("", value).casefold()
    kind = _KIND_OF.get(_SQUEEZED.sub("", text))
    if kind:
        return kind
    kinds = {_KIND_OF.get(part.strip(".()")) for part in _SEPARATOR.split(text) if part}
    return kinds.pop() if len(kinds) == 1 else None


def is_payment(value: str) -> bool:
    """A list of means of payment and nothing else: `Invoice 2031-1000` only mentions one."""
    parts = [part for part in _SEPARATOR.split(value.casefold()) if part]
    said = {part.strip(".:()!") for part in parts} - _FILLERS
    return said <= _PAYMENT_WORDS and not said <= _ONLY_WITH_OTHERS


def _share_of(kind: str) -> Callable[[Reading], float]:
    def share(reading: Reading) -> float:
        good = sum(
            count
            for value, count in zip(reading.values, reading.counts, strict=True)
            if enumeration_of(value) == kind
        )
        return good / reading.total

    return share


_MEMBER_RULES = tuple(
    Rule(
        f"schema_org_{kind}",
        _NOUN[kind],
        measure=_share_of(kind),
        needs=LETTER,
        bars=NUMERIC,
        shortest=3,
        longest=300,
        support=((kind, _STRENGTH[kind]),),
    )
    for kind in _MEMBERS
)

RULES = (
    *_MEMBER_RULES,
    Rule(
        "payment_methods",
        "lists of means of payment",
        is_payment,
        sure=0.88,
        needs=LETTER,
        bars=NUMERIC,
        shortest=4,
        longest=300,
        most_values=30,
        support=(("paymentAccepted", 0.9),),  # 27 of 29 labelled columns
    ),
)
