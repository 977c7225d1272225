"""Closed lists of words and codes short enough to be written down: states, airports, colours, units.

They are sets of plain text, split once at import; `words` is how such a list is written.
"""


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


AIRPORTS = words(
    "ATL PEK LAX DXB HND ORD LHR PVG CDG DFW AMS FRA IST CAN JFK SIN DEN ICN BKK SFO KUL MAD CTU LAS BCN BOM MIA YYZ SEA CLT LGW MUC MCO"
    " TPE SYD EWR MNL SZX MEX PHX MSP FCO IAH SVO CGK DEL HKG NRT KIX BOS FLL DTW PHL LGA BWI SLC IAD DCA MDW TPA SAN HNL PDX STL BNA AUS"
    " OAK MCI RDU SJC SMF SNA MSY CLE IND PIT CVG CMH SAT BDL JAX ABQ BUF OMA ONT BUR ANC TUS OKC RNO SDF RIC ORF GEG MKE PVD PBI RSW DAL"
    " HOU YVR YUL YYC YEG YOW YHZ YWG GRU GIG BSB EZE SCL LIM BOG UIO CCS PTY CUN GDL MTY SJO HAV SDQ SJU VIE ZRH GVA BSL BRU LUX CPH ARN"
    " OSL HEL KEF DUB EDI GLA MAN STN LTN BHX BRS NCL LPL BFS CWL ORY LYS NCE MRS TLS BOD NTE TXL SXF BER HAM DUS CGN STR HAJ NUE LEJ DRS"
    " BRE FMO DTM MXP LIN BGY VCE NAP CTA PMO BLQ PSA TRN LIS OPO FAO PMI AGP ALC VLC SVQ BIO IBZ TFS LPA ACE WAW KRK GDN WRO PRG BUD OTP"
    " SOF BEG ZAG LJU SKG ATH HER RHO LCA TLV AMM BEY CAI HRG SSH CMN RAK TUN ALG JNB CPT DUR NBO ADD LOS ACC DKR DAR EBB KGL MRU TNR AUH"
    " DOH KWI BAH MCT RUH JED DMM IKA SAW ESB AYT ADB LED DME VKO KBP TBS EVN GYD ALA TAS KHI LHE ISB BLR MAA HYD CCU COK AMD GOI CMB DAC"
    " KTM MLE RGN HAN SGN DAD PNH REP VTE DPS SUB CEB HKT CNX USM PEN BKI KCH TSN XIY KMG HGH NKG WUH CKG XMN TAO DLC SHE HRB CSX KHH MFM"
    " GMP CJU PUS CTS FUK OKA NGO ITM MEL BNE PER ADL CNS OOL HBA DRW CBR AKL WLG CHC ZQN NAN PPT GUM LGB SBA"
)
STATES = words(
    "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY DC PR"
)
STATE_NAMES = words(
    "alabama alaska arizona arkansas california colorado connecticut delaware florida georgia hawaii idaho illinois indiana iowa"
    " kansas kentucky louisiana maine maryland massachusetts michigan minnesota mississippi missouri montana nebraska nevada ohio"
    " oklahoma oregon pennsylvania tennessee texas utah vermont virginia washington wisconsin wyoming"
) | {
    "new hampshire",
    "new jersey",
    "new mexico",
    "new york",
    "north carolina",
    "north dakota",
    "rhode island",
    "south carolina",
    "south dakota",
    "west virginia",
    "district of columbia",
}
CONTINENTS = frozenset(
    {
        "africa",
        "antarctica",
        "asia",
        "europe",
        "oceania",
        "north america",
        "south america",
        "australia",
        "americas",
    }
)
COLOURS = words(
    "black white red green blue yellow orange purple pink brown grey gray silver gold beige navy teal maroon olive cyan magenta"
    " turquoise violet indigo ivory cream khaki coral salmon lavender crimson charcoal burgundy tan copper aqua lime"
    " mint peach plum rose ruby emerald sapphire champagne camel multicolor multicolour multi transparent"
    " schwarz weiss weiß rot grün blau gelb braun grau rosa lila noir blanc rouge vert bleu jaune marron gris"
    " negro blanco rojo verde azul amarillo nero bianco rosso giallo blu zwart wit rood groen blauw geel"
)
SHADES = words(
    "light dark bright pale deep navy royal sky forest hot neon matte metallic pastel off hell dunkel"
)
CONTENT_RATINGS = words(
    "G PG PG-13 R NC-17 NR UR X UNRATED TV-Y TV-Y7 TV-Y7-FV TV-G TV-PG TV-14 TV-MA M MA15+ MA MA15 R18+ E E10+ T AO EC 12A 15 18"
    " U UA A FSK0 FSK6 FSK12 FSK16 FSK18 CTC PG13 14A 18A APPROVED PASSED"
) | {
    "NOT RATED",
    "NOT YET RATED",
    "FSK 0",
    "FSK 6",
    "FSK 12",
    "FSK 16",
    "FSK 18",
    "EVERYONE",
    "TEEN",
    "MATURE",
}
UNIT_CODES = words(
    "CMT MTR KMT MMT INH FOT YRD SMI DMT KGM GRM MGM TNE LBR ONZ STN LTR MLT CLT DLT GLL GLI PTI QTI HUR MIN SEC DAY WEE MON ANN"
    " PCE C62 KWH WTT KWT MTK CMK FTK INK MTQ FTQ CEL FAH KEL PSI BAR VLT AMP HTZ MHZ GHZ KJO JOU D70 E54 BHP KMH HM 4L E34"
)
UNIT_WORDS = words(
    "kg kgs g gr gram grams kilogram kilograms mg lb lbs pound pounds oz ounce ounces ton tons tonne cm mm m km meter meters metre"
    " metres inch inches in ft feet foot yd yards mile miles mi l ltr liter litre liters litres ml cl dl gal gallon gallons pcs"
    " pc piece pieces each ea pack set hour hours minute minutes min day days week weeks month months year years kwh kw w hp kcal"
    " cal kj sqft sqm m2 m² ft² % °c °f"
) | {"troy oz", "fl oz", "fl. oz", "sq ft", "sq m", "square feet"}
TITLES = words(
    "mr mrs ms miss mx dr prof sir dame lady lord rev hon herr frau m mme mlle sr sra srta sig dhr mevr dipl ing master madam"
)
GENDERS = words(
    "male female man woman men women m f w boy girl unisex nonbinary non-binary other diverse divers mann frau männlich"
    " weiblich homme femme masculin féminin hombre mujer masculino femenino maschio femmina uomo donna x"
)
SURE_GENDERS = words(
    "male female männlich weiblich masculin féminin masculino femenino homme femme unisex"
)
DEMONYMS = words(
    "american british english scottish welsh irish french german italian spanish portuguese dutch belgian swiss austrian polish"
    " czech slovak hungarian romanian bulgarian greek turkish russian ukrainian swedish norwegian danish finnish icelandic"
    " estonian latvian lithuanian croatian serbian slovenian albanian canadian mexican brazilian argentine argentinian chilean"
    " colombian peruvian venezuelan cuban chinese japanese korean indian pakistani bangladeshi indonesian malaysian filipino"
    " vietnamese thai australian nigerian kenyan egyptian moroccan algerian tunisian ethiopian ghanaian iranian iraqi israeli"
    " saudi lebanese syrian jordanian afghan singaporean taiwanese deutsch français española español italiana italiano"
) | {
    "new zealander",
    "south african",
    "south korean",
    "north korean",
    "sri lankan",
    "costa rican",
    "puerto rican",
}
GENERIC_ENDINGS = words(
    "com org net edu gov mil int info biz name pro aero coop museum jobs mobi travel tel cat asia app dev xyz online"
    " site shop store blog cloud tech club live news page local internal lan corp localhost test example eu"
)
FILE_ENDINGS = words("ai cc md mk ml mm pl ps py rs sh so st tc vb zip")
METHODS = words("GET POST PUT PATCH DELETE HEAD OPTIONS TRACE CONNECT")
STATUSES = words(
    "100 101 102 103 200 201 202 203 204 205 206 207 208 226 300 301 302 303 304 305 307 308 400 401 402 403 404 405 406"
    " 407 408 409 410 411 412 413 414 415 416 417 418 421 422 423 424 425 426 428 429 431 451 500 501 502 503 504 505 506"
    " 507 508 510 511"
)
ELEMENTS = words(
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In"
    " Sn Sb Te I Xe Cs Ba La Ce Pr Nd Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Th U Pu"
)
