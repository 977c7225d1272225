"""Any annotations at all, for laws about the formats they are written in."""

from hypothesis import strategies as st

from aegir.answers.annotation import ColumnAnnotation, Guess, RowAnnotation, TableAnnotation
from aegir.answers.reviewing import VERDICTS, Offer, Reviewed
from aegir.answers.routing import RouterScore, Timing
from aegir.vocabulary.terms import PERSON_STATES, ROW_NAMES, SPECIAL_CATEGORIES
from aegir_rl.base.text import escape_surrogates

# Any text at all, lone surrogates and control characters included, with the awkward ones often.
texts = st.one_of(
    st.text(st.characters(), max_size=12),
    st.sampled_from(
        [
            '"',
            "'",
            "a,b",
            "a\nb",
            "a\rb",
            "# x",
            ": y",
            "- z",
            "\ud800",
            "\u2028",
            "=1+1",
            "-1",
            "\x1b[31m",
            "<img src=x onerror=y>",
            "</script>",
            "&amp;",
        ]
    ),
)
confidences = st.floats(0, 1)
guesses = st.builds(Guess, texts, confidences)
routings = st.lists(
    st.builds(RouterScore, texts, confidences, st.booleans()),
    max_size=3,
    unique_by=lambda each: escape_surrogates(each.specialist),
).map(tuple)
seconds = st.floats(0, 1e6)
timings = st.builds(
    Timing,
    seconds,
    seconds,
    st.lists(
        st.tuples(texts, seconds), max_size=3, unique_by=lambda step: escape_surrogates(step[0])
    ).map(tuple),
)
columns = st.builds(
    ColumnAnnotation,
    index=st.integers(0, 5),
    name=st.none() | texts,
    label=st.none() | texts,
    confidence=confidences,
    kind=st.none() | texts,
    type=st.none() | texts,
    type_confidence=confidences,
    fine_type=st.none() | texts,
    datatype=st.sampled_from(
        ["string", "integer", "number", "boolean", "date", "datetime", "empty"]
    ),
    personal=st.booleans(),
    personal_level=st.none() | texts,
    personal_reason=st.none() | texts,
    identifying_confidence=st.none() | confidences,
    special=st.booleans(),
    special_category=st.none() | st.sampled_from(SPECIAL_CATEGORIES) | texts,
    tags=st.lists(texts, max_size=2).map(tuple),
    relation=st.none() | guesses,
    iri=st.none() | texts,
    relation_iri=st.none() | texts,
    runners_up=st.lists(guesses, max_size=2).map(tuple),
    type_runners_up=st.lists(guesses, max_size=1).map(tuple),
    relation_runners_up=st.lists(guesses, max_size=1).map(tuple),
    reasons=st.lists(texts, max_size=2).map(tuple),
    routing=st.none() | routings,
    reviewed=st.none()
    | st.builds(Reviewed, st.sampled_from(VERDICTS), texts, texts, st.none() | texts, confidences),
    offers=st.lists(
        st.builds(Offer, st.none() | texts, confidences, texts, texts, texts), max_size=1
    ).map(tuple),
)
rows = st.builds(
    RowAnnotation,
    st.none() | st.sampled_from(ROW_NAMES),
    st.none() | texts,
    confidences,
    st.sampled_from(PERSON_STATES),
    confidences,
)
annotations = st.lists(
    st.builds(
        TableAnnotation,
        table=texts,
        source=st.none() | texts,
        subject=st.none() | st.integers(0, 5),
        columns=st.lists(columns, max_size=4).map(tuple),
        annotator=texts,
        row=st.none() | rows,
        subject_repeats=st.booleans(),
        warnings=st.lists(texts, max_size=1).map(tuple),
        timing=st.none() | timings,
    ),
    max_size=2,
)
