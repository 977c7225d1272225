"""What job offers and houses list: titles, degrees, experience, occupation codes, amenities.

Occupation codes are groups of the Standard Occupational Classification (a public list); amenities are listed in five
languages because hotel sites are.
"""

from random import Random

from aegir.data.generators.cells import (
    Cell,
    choose,
    lists_of,
    mixture,
    one_of,
    options,
    templates,
)
from aegir.data.generators.people import speaker

_AMENITIES = {
    "en": "Free WiFi|Parking|Free parking|Swimming pool|Outdoor pool|Fitness center|Restaurant|Bar|Air conditioning|"
    "Room service|24-hour front desk|Elevator|Laundry service|Dry cleaning|Business center|Meeting rooms|Airport shuttle|"
    "Pets allowed|Pet friendly|Non-smoking rooms|Hairdryer|Minibar|Safe|Terrace|Balcony|Garden|Sauna|Spa|Hot tub|Kitchen|"
    "Washer / Dryer|Family rooms|Breakfast included|Wheelchair accessible|Concierge services|Golf course|Tennis court|"
    "Satellite TV|Telephone|Internet|Currency exchange|Babysitting|Luggage storage|BBQ facilities|Beachfront|EV charging",
    "de": "WLAN|Kostenloses WLAN|Parkplatz|Restaurant|Schwimmbad|Sauna|Fahrstuhl|Haustiere erlaubt|Klimaanlage|Balkon|Terrasse|"
    "Tagungsraum|Fitnessraum|Nichtraucherzimmer|Frühstücksbuffet|Garage|Safe|Garten|Kinderbetreuung|Wäscheservice",
    "fr": "Parking gratuit|Wifi|Piscine|Restaurant|Ascenseur|Salle de sport|Climatisation|Jardin|Terrasse|Petit déjeuner|"
    "Animaux acceptés|Salle de réunion|Service pressing|Bar|Coffre-fort|Spa|Accès handicapés|Télévision",
    "es": "Acceso a Internet inalámbrico|Piscina|Restaurante|Aire acondicionado|Secador|Caja fuerte|Bar|Ascensor|"
    "Servicio de lavandería|Terraza|Jardín|Aparcamiento|Gimnasio|Recepción 24 horas|Calefacción|Minibar|Se admiten mascotas",
    "it": "Ascensore|Sala riunioni|Centro fitness|Piscina interna|Parcheggio|Aria condizionata|Ristorante|Cassaforte|Giardino|"
    "Animali ammessi|Connessione Wi-Fi|Colazione inclusa|Terrazza|Servizio in camera|Camere non fumatori|Sauna",
}
amenities = mixture(
    {
        lists_of(words.split("|"), 3, 12): 0.6 if code == "en" else 0.1
        for code, words in _AMENITIES.items()
    }
)

_OCCUPATIONS = {
    "41-2031.00": "Retail Salespersons",
    "29-1141.00": "Registered Nurses",
    "11-1021.00": "General and Operations Managers",
    "43-4051.00": "Customer Service Representatives",
    "15-1252.00": "Software Developers",
    "35-2014.00": "Cooks, Restaurant",
    "53-3032.00": "Heavy and Tractor-Trailer Truck Drivers",
    "13-2011.00": "Accountants and Auditors",
    "25-2021.00": "Elementary School Teachers",
    "31-1131.00": "Nursing Assistants",
    "37-2011.00": "Janitors and Cleaners",
    "43-3031.00": "Bookkeeping, Accounting, and Auditing Clerks",
    "49-9071.00": "Maintenance and Repair Workers, General",
    "11-3121.00": "Human Resources Managers",
    "17-2141.00": "Mechanical Engineers",
    "47-2111.00": "Electricians",
    "41-4012.00": "Sales Representatives, Wholesale and Manufacturing",
    "13-1111.00": "Management Analysts",
    "29-2061.00": "Licensed Practical and Licensed Vocational Nurses",
    "51-9061.00": "Inspectors, Testers, Sorters",
    "33-9032.00": "Security Guards",
    "43-6014.00": "Secretaries and Administrative Assistants",
    "51-4121.00": "Welders",
}
_FIELDS = options(
    "Sales|Marketing|Engineering|Information Technology|Healthcare|"
    "Finance and Accounting|Human Resources|Operations|Customer Service|"
    "Administrative|Construction|Manufacturing|Retail|Hospitality|Education|Legal|"
    "Logistics|Design|Management|Nursing|Insurance|Transportation|"
    "Accounting & Finance|Sales & Retail|Admin & Office|Research|Quality Assurance|"
    "Real Estate|Media|Government|IT & Telekommunikation|Vertrieb|Gesundheit|"
    "Logistik & Transport|Ingénierie|Commercial|Production|Ventas|Administración"
)


def _occupation_codes(random: Random) -> Cell:
    form = choose(random, {"{code} {name}": 4, "{name} {code}": 3, "{code}": 1.5, "{name}": 1})
    used = random.sample(sorted(_OCCUPATIONS.items()), random.randint(1, 6))

    def cell() -> str:
        code, name = random.choice(used)
        return form.format(code=code, name=name)

    return cell


occupation = mixture(
    {_occupation_codes: 0.4, one_of(_FIELDS, 1, 6): 0.4, lists_of(_FIELDS, 1, 3): 0.2}
)


def _fill_years(random: Random, template: str) -> str:
    low = random.randint(1, 8)
    return template.format(
        n=low, m=low + random.randint(1, 5), k=random.choice([3, 6, 12, 18, 24, 36, 60]),
        w=["one", "two", "three", "four", "five", "six", "seven", "eight"][low - 1],
    )  # fmt: skip


experience = mixture(
    {
        templates(
            {
                "At least {n} years experience.": 2, "{n} to {m} years experience.": 2, "{n} yrs": 1, "{n} - {m} years": 1.5,
                "{n}+ years": 1.5, "{n}+ years of experience": 1, "{n} years": 1.5, "{n}": 0.8, "Minimum {n} years": 1,
                "{k}": 0.6, "{k} months": 0.8, "{w} years of relevant experience": 0.6, "{n}-{m} Yrs": 0.7, "{n} year(s)": 0.6,
                "Mid-Career ({n} - {m} years)": 0.4, "mindestens {n} Jahre Berufserfahrung": 0.5, "{n} ans d'expérience": 0.4,
                "{n}-{m} años": 0.3, "Minimum of {n} years experience in a similar role": 0.8, "{n} jaar ervaring": 0.3,
            },
            _fill_years,
        ): 0.68,
        one_of(
            ["No experience required", "No experience required.", "Entry Level", "Mid Level", "Senior Level", "Experienced", "Freshers can apply", "Not Specified", "None", "N/A", "Junior", "Senior", "Manager", "Executive", "Entry Level (0 - 2 years)", "Experience preferred", "Individual Contributor", "Associate", "Student", "Trainee", "Berufseinsteiger", "Débutant accepté", "Sin experiencia", "--"], 1, 4,
        ): 0.32,
    }
)  # fmt: skip
credential = mixture(
    {
        one_of(
            ["High School", "High School Diploma", "High School Diploma or GED", "Bachelor's Degree", "Bachelor Degree", "Bachelors", "Master's Degree", "Masters", "Associate's Degree", "Associate Degree", "Doctorate", "PhD", "2 Year Degree", "4 Year Degree", "Not Specified", "Graduation", "Graduate", "Diploma", "None", "No formal education", "Vocational training", "Some college", "High School or equivalent", "Technical diploma", "Any Graduate", "B.Tech/B.E.", "MBA", "B.Com", "Post Graduate", "CPA", "RN License", "GED", "Licence", "Bac +2", "Bac +5", "Abitur", "Hochschulabschluss", "Abgeschlossene Berufsausbildung", "Mittlere Reife", "Laurea", "Diploma di maturità", "Título universitario", "bachelor degree", "high school", "associate degree", "postgraduate degree", "professional certificate"], 1, 4,
        ): 0.65,
        templates(
            {
                "Bachelor's degree in {f} or equivalent": 2, "Degree in {f}": 1.5, "Master's degree in {f} preferred": 1,
                "BSc in {f}": 1, "Diploma in {f} with {n} years experience": 1, "Bachelor's degree and {n}+ years of experience": 1,
                "High school diploma or equivalent; {n} years in {f}": 1, "{f} degree required": 0.7, "Certification in {f}": 0.7,
            },
            lambda random, template: template.format(f=random.choice(_FIELDS[:30]), n=random.randint(1, 6)),
        ): 0.35,
    }
)  # fmt: skip


def job_title(random: Random) -> Cell:
    """Job titles of one site, with its way of adding level, contract or place."""
    voice = speaker(random, ("en_US", "en_US", "en_GB", "de_DE", "fr_FR", "es_ES", "nl_NL"))
    roles = [
        "Engineer", "Manager", "Assistant", "Analyst", "Developer", "Nurse", "Driver", "Technician", "Consultant", "Specialist",
        "Coordinator", "Sales Representative", "Accountant", "Designer", "Supervisor", "Teacher", "Administrator", "Cook",
    ]  # fmt: skip
    form = choose(
        random,
        {
            "{j}": 3,
            "{l} {f} {r}": 4,
            "{f} {r}": 3,
            "{f} {r} - {c}": 1.5,
            "{r}": 1,
            "{f} {r} (m/w/d)": 0.7,
            "{l} {r}, {f}": 0.7,
        },
    )

    def cell() -> str:
        return form.format(
            j=voice.job(), l=random.choice(["Senior", "Junior", "Lead", "Assistant", "Head", "Principal"]),
            f=random.choice(_FIELDS[:30]), r=random.choice(roles), c=voice.city(),
        )  # fmt: skip

    return cell
