"""Column types for what people make and do: books, films, music, recipes, reviews, events and jobs.

Each entry reads: name -> (class it is filed under, invented example, definition). `types.py` turns these
entries into `ColumnType`s; nothing else should import this module.

`X/name` is what an X is called, `X/description` is prose about it. Titles of different kinds of work look
alike; the columns beside them (pages, actors, tracks) usually settle which kind it is.
"""

WORK_TYPES: dict[str, tuple[str, str, str]] = {
    "Book/name": (
        "Book",
        "The Lighthouse Keeper's Almanac",
        "The title of a book, comic or other printed publication, with or without its subtitle.",
    ),
    "Book/description": (
        "Book",
        "A retired surveyor finds a map of a coast that should not exist.",
        "Prose about a book: the blurb, a summary or a note on the edition.",
    ),
    "CreativeWork": (
        "CreativeWork",
        "dQx7_Lm2PzE",
        "A work that is given itself or by its key rather than by title: the text of an article or "
        "sermon, or the short key of a video. Its title is CreativeWork/name.",
    ),
    "CreativeWork/name": (
        "CreativeWork",
        "Five Ways to Mend a Fence",
        "The title of an article, post, course, template or other work that is not a book, film, song, "
        "album, recipe or episode.",
    ),
    "CreativeWorkSeries": (
        "CreativeWork",
        "Harbour Lights",
        "The name of a series or show that episodes or volumes belong to. A single episode is "
        "TVEpisode/name.",
    ),
    "ItemList": (
        "Intangible",
        "Whisk the eggs. Fold in the flour. Bake for 20 minutes.",
        "Several items or steps in one cell, in order: the steps of a recipe, the titles of a playlist, "
        "the links of a menu.",
    ),
    "Movie/name": (
        "Movie",
        "Winter in Port Almera (2029)",
        "The title of a film, sometimes with its year.",
    ),
    "Movie/description": (
        "Movie",
        "Two rival clockmakers are snowed in on the night of the town's jubilee.",
        "Prose about a film: its plot or a note about the production.",
    ),
    "MusicAlbum/name": (
        "MusicAlbum",
        "Paper Boats (Deluxe)",
        "The title of an album, EP or single as a release. One piece on it is MusicRecording/name.",
    ),
    "MusicArtistAT": (
        "Organization",
        "The Copper Lanterns",
        "Who performs or composes music: a band, an orchestra or a single artist. People known for "
        "other things are Person/name.",
    ),
    "MusicRecording/name": (
        "MusicRecording",
        "Slow Train to Ivory Bay",
        "The title of one song or piece, sometimes with featured guests. The release it appears on is "
        "MusicAlbum/name.",
    ),
    "Photograph": (
        "CreativeWork",
        "https://img.example.org/rooms/double-17.jpg",
        "A picture, nearly always the address of an image file. A link to a page is URL.",
    ),
    "Recipe/name": (
        "Recipe",
        "Smoky Pumpkin Soup with Sage",
        "The name of a dish as a recipe calls it.",
    ),
    "Recipe/description": (
        "Recipe",
        "A warming soup for the first cold evening, ready in half an hour.",
        "Prose that introduces a recipe. The steps to cook it are ItemList.",
    ),
    "Review": (
        "Review",
        "Friendly staff and a quiet room, but breakfast ends far too early.",
        "Someone's opinion in words on a product, place, person or work. A score alone is Number.",
    ),
    "TVEpisode/name": (
        "TVEpisode",
        "Harbour Lights Season 2 Episode 4",
        "The title of one episode, often with season and episode number. The show is "
        "CreativeWorkSeries.",
    ),
    "Event/name": (
        "Event",
        "Beginners' Pottery Evening",
        "What a concert, course, meeting or fair is called. Matches and races are SportsEvent/name.",
    ),
    "Event/description": (
        "Event",
        "Bring an apron; clay and glazes are included, and the kiln is lit at nine.",
        "Prose about an event: programme, conditions or what to bring.",
    ),
    "SportsEvent/name": (
        "SportsEvent",
        "Northgate Rovers vs Eastmere United",
        "What a match, race or tournament is called, often just its opponents.",
    ),
    "JobPosting/name": (
        "JobPosting",
        "Night Shift Baker (m/f/d)",
        "The headline of a job offer, usually the position, sometimes with place or pay.",
    ),
    "JobPosting/description": (
        "JobPosting",
        "You plan the weekly routes of our twelve delivery vans and keep their logs.",
        "Prose about a job offer: duties, employer and benefits.",
    ),
    "EducationalOccupationalCredential": (
        "JobPosting",
        "Bachelor's degree in accounting",
        "The degree, licence or other qualification a job asks for. Years of practice are "
        "OccupationalExperienceRequirements.",
    ),
    "OccupationalExperienceRequirements": (
        "JobPosting",
        "At least 3 years in a similar role",
        "The experience a job asks for, in years, months or a level such as entry level. Degrees are "
        "EducationalOccupationalCredential.",
    ),
    "MonetaryAmount": (
        "Intangible",
        "£23,500 per year",
        "An amount of money paid to someone, mostly the salary of a job offer, often a span or a rate "
        "per hour or year. What a buyer pays is price.",
    ),
    "workHours": (
        "JobPosting",
        "Mon - Fri, 9:00 to 18:00",
        "When or how long one works in a job: shifts or hours per week. When a place serves visitors "
        "is openingHours.",
    ),
}
