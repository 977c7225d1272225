"""Relations of creative works: who made them, when, in what form, how they are rated.

Each entry reads: name -> (kinds of subject it describes, invented example, definition). `relations.py`
turns these entries into `Relation`s and files each under its first kind; nothing else should import
this module.
"""

WORK_RELATIONS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "actor": (
        ("Movie", "TVEpisode", "CreativeWork"),
        "Ines Varga, Tobias Lund",
        "Who plays in a film, episode or series; often several names in one cell.",
    ),
    "author": (
        ("CreativeWork",),
        "Marisol Tennfjord",
        "Who wrote a book, recipe, review or article.",
    ),
    "bookEdition": (
        ("Book",),
        "2nd edition",
        "Which edition of a book it is, by number, year or name.",
    ),
    "bookFormat": (
        ("Book",),
        "Paperback",
        "How a book is bound or delivered.",
    ),
    "byArtist": (
        ("MusicRecording", "MusicAlbum"),
        "The Copper Lanterns",
        "Who recorded a song or album. Who appears at an event is performer.",
    ),
    "contentRating": (
        ("CreativeWork",),
        "PG-13",
        "For which audience a work is suitable.",
    ),
    "cookTime": (
        ("Recipe",),
        "PT25M",
        "How long a dish is on the heat. Work before that is prepTime, the whole is totalTime.",
    ),
    "cookingMethod": (
        ("Recipe",),
        "Braising",
        "How a dish is cooked: baking, frying, steaming.",
    ),
    "copyrightYear": (
        ("CreativeWork",),
        "2027",
        "The year of a work's copyright notice.",
    ),
    "countryOfOrigin": (
        ("CreativeWork", "Product"),
        "Finland",
        "The country where a film or product was made.",
    ),
    "dateCreated": (
        ("CreativeWork",),
        "2029-05-14",
        "When a work was made, which may be long before it was published.",
    ),
    "datePublished": (
        ("CreativeWork",),
        "2030-09-01",
        "When a work first came out or was put on line. Products and albums carry releaseDate too.",
    ),
    "description": (
        ("Thing",),
        "A retired surveyor finds a map of a coast that should not exist.",
        "Prose about the subject, whatever it is.",
    ),
    "director": (
        ("Movie", "TVEpisode", "CreativeWork"),
        "Ines Varga",
        "Who directed a film, episode or series.",
    ),
    "duration": (
        ("CreativeWork", "Event"),
        "PT3M46S",
        "How long the subject runs. Times of recipes are cookTime, prepTime and totalTime.",
    ),
    "episodeNumber": (
        ("TVEpisode",),
        "7",
        "The place of an episode in its season or series.",
    ),
    "genre": (
        ("CreativeWork",),
        "Crime, Drama",
        "The kind of story, music or subject a work belongs to.",
    ),
    "headline": (
        ("CreativeWork",),
        "Five Ways to Mend a Fence",
        "The heading of an article or page; frequently repeats the subject itself.",
    ),
    "image": (
        ("Thing",),
        "https://img.example.org/rooms/double-17.jpg",
        "A picture of the subject, mostly as a link.",
    ),
    "inAlbum": (
        ("MusicRecording",),
        "Paper Boats (Deluxe)",
        "The album on which a song appears.",
    ),
    "inLanguage": (
        ("CreativeWork", "Event"),
        "en-GB",
        "The language of a work or event. Languages spoken by staff are availableLanguage.",
    ),
    "isbn": (
        ("Book",),
        "978-3-16-148410-0",
        "The International Standard Book Number of a book, 10 or 13 digits.",
    ),
    "numTracks": (
        ("MusicAlbum",),
        "12",
        "How many pieces an album holds.",
    ),
    "numberOfPages": (
        ("Book",),
        "348",
        "How many pages a book has.",
    ),
    "nutrition": (
        ("Recipe",),
        "14 g fat",
        "What a serving contains: one nutrient per column, such as fat, sugar, sodium or calories.",
    ),
    "partOfSeries": (
        ("TVEpisode", "CreativeWork"),
        "Harbour Lights",
        "The series an episode or volume belongs to.",
    ),
    "prepTime": (
        ("Recipe",),
        "PT15M",
        "How long the work before cooking takes.",
    ),
    "productionCompany": (
        ("Movie", "CreativeWork"),
        "Lantern Hill Pictures",
        "The studio that produced a film or series.",
    ),
    "publisher": (
        ("CreativeWork",),
        "Brightwater Press",
        "Who published a book, article or game.",
    ),
    "recipeCategory": (
        ("Recipe",),
        "Side dish",
        "The course or kind of dish: soup, dessert, breakfast.",
    ),
    "recipeCuisine": (
        ("Recipe",),
        "Peruvian",
        "The cuisine a dish comes from. What a restaurant cooks is servesCuisine.",
    ),
    "recipeIngredient": (
        ("Recipe",),
        "200 g flour, 2 eggs, a pinch of salt",
        "What goes into a dish, with amounts, usually all in one cell.",
    ),
    "recipeInstructions": (
        ("Recipe",),
        "Whisk the eggs. Fold in the flour. Bake for 20 minutes.",
        "The steps to cook a dish.",
    ),
    "servingSize": (
        ("Recipe",),
        "2 tablespoons",
        "The amount of a dish to which its nutrition figures apply.",
    ),
    "suitableForDiet": (
        ("Recipe",),
        "https://schema.org/VeganDiet",
        "A diet that a dish respects.",
    ),
    "text": (
        ("CreativeWork",),
        "Dear neighbours, the bridge is open again…",
        "The words of a work themselves, not prose about it, which is description.",
    ),
    "totalTime": (
        ("Recipe",),
        "PT40M",
        "How long a dish takes from start to table.",
    ),
    "track": (
        ("MusicAlbum",),
        "Slow Train, Ivory Bay, Homeward",
        "The titles of the pieces on an album.",
    ),
}
