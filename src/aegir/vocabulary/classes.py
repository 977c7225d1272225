"""The classes under which types and relations are filed: Schema.org's tree, pruned to what we need.

    class_path("Hotel")  ->  ("Thing", "Place", "LocalBusiness", "LodgingBusiness", "Hotel")

Promises
  - every class has exactly one parent, so every path is unique;
  - there are two roots, as in Schema.org: Thing (what a cell names) and DataType (bare values).

Where Schema.org gives a class several parents we keep the one a reader would look under first: a hotel
is filed as a place, though it is an organisation too. The parts of a postal address and coordinates are
filed under Place, units under Quantity, contact details under Person and what a job asks for under
JobPosting, because that is where people search for them.
"""

PARENTS: dict[str, str] = {
    "Book": "CreativeWork",
    "CivicStructure": "Place",
    "CreativeWork": "Thing",
    "DefinedTerm": "Intangible",
    "Enumeration": "Intangible",
    "Event": "Thing",
    "Hotel": "LodgingBusiness",
    "Intangible": "Thing",
    "JobPosting": "Intangible",
    "LocalBusiness": "Place",
    "LodgingBusiness": "LocalBusiness",
    "Movie": "CreativeWork",
    "Museum": "CivicStructure",
    "MusicAlbum": "CreativeWork",
    "MusicRecording": "CreativeWork",
    "Offer": "Intangible",
    "Organization": "Thing",
    "Person": "Thing",
    "Place": "Thing",
    "Product": "Thing",
    "Quantity": "Intangible",
    "Recipe": "CreativeWork",
    "Restaurant": "LocalBusiness",
    "Review": "CreativeWork",
    "SportsEvent": "Event",
    "TVEpisode": "CreativeWork",
}
ROOTS = ("DataType", "Thing")


def class_path(name: str) -> tuple[str, ...]:
    """From the root down to this class; a KeyError means the class is missing above."""
    path = [name]
    while path[-1] not in ROOTS:
        path.append(PARENTS[path[-1]])
    return tuple(reversed(path))
