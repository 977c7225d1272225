"""Laws of masked rows: whatever the cells are, none of a masked column passes through."""

import csv
import io
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from aegir.masking.delimited_files import Structure, read_masked, rewrite_delimited
from aegir.masking.plan import MASKED, ColumnPlan, MaskPlan
from aegir.masking.policy import load_policy
from aegir.masking.rows import SHORTEST_NUMBER, RowMasker, is_missing
from aegir.masking.text_streams import TextFile
from aegir.tables.delimited import Dialect

KEY = b"0123456789abcdef"
POLICY = load_policy(None)
KEPT = ColumnPlan(5, "kept", None, "text", None, "keep", "kept", "")
PLAN = MaskPlan(
    (
        ColumnPlan(0, "id", "direct", "identifier", None, "tokenise", MASKED, ""),
        ColumnPlan(1, "name", "direct", "person", None, "redact", MASKED, ""),
        ColumnPlan(2, "day", "about", "time", None, "shift", MASKED, "", date_format="%Y-%m-%d"),
        ColumnPlan(3, "age", "indirect", "person", None, "generalise", MASKED, "", way="age"),
        ColumnPlan(4, "zip", "indirect", "place", None, "generalise", MASKED, "", way="postcode"),
        KEPT,
    ),
    shift_subject=0,
)
values = st.one_of(
    st.text(max_size=12),
    st.sampled_from(["", "NULL", " n/a ", "2024-05-01", "47", "02139", "ada@example.org", "[redacted]"]),
    st.integers(0, 10**9).map(str),
)  # fmt: skip
rows = st.lists(st.tuples(*[values] * 6).map(list), min_size=1, max_size=5)


@given(rows)
def test_a_masked_cell_is_missing_or_changed_and_a_kept_one_gives_nothing_away(
    table: list[list[str]],
):
    masker = RowMasker(PLAN, POLICY, KEY)
    for before, after in zip(table, masker.mask_rows(table), strict=True):
        for index in range(5):
            missing = is_missing(before[index])
            assert after[index] == before[index] if missing else (
                after[index].strip() != before[index].strip() or before[index].strip() == masker.mark
            )  # fmt: skip
        for index in (0, 1):
            text = before[index].strip().lower()
            if len(text) >= SHORTEST_NUMBER and text not in masker.mark:
                assert text not in after[5].lower()
        assert "ada@example.org" not in after[5]
    for index in range(6):
        counts = masker.counts_of(index)
        assert counts.changed + counts.missing + counts.left == len(table)


@given(rows)
def test_rows_are_masked_alike_together_and_one_by_one(table: list[list[str]]):
    together = RowMasker(PLAN, POLICY, KEY).mask_rows(table)
    alone = RowMasker(PLAN, POLICY, KEY)
    assert together == [alone.mask_rows([row])[0] for row in table]


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


@settings(max_examples=60)
@given(
    table=st.lists(st.tuples(cells, cells, cells).map(list), min_size=1, max_size=6),
    delimiter=st.sampled_from(",;\t|"),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    line_end=st.sampled_from(["\n", "\r\n"]),
)
def test_kept_cells_survive_rewriting_in_any_dialect(
    tmp_path_factory, table: list[list[str]], delimiter: str, quoting: int, line_end: str
):
    path = tmp_path_factory.mktemp("table") / "t.csv"
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator=line_end)
    writer.writerows(table)
    path.write_bytes(text.getvalue().encode())
    columns = tuple(replace(KEPT, index=index) for index in range(3))
    masker = RowMasker(MaskPlan(columns, None), POLICY, KEY)
    structure = Structure(Dialect(delimiter), quoting, line_end, 0, 0, 3, 3)
    out = Path(f"{path}.out")
    with out.open("wb") as new:
        rewrite_delimited(
            TextFile(path, "utf-8", b""), structure, masker, lambda piece: new.write(piece) and None, print
        )  # fmt: skip
    back = [
        [cell for _, cell in row]
        for row in read_masked(TextFile(out, "utf-8", b""), structure, print)
    ]
    assert back == [row for row in table if any(map(str.strip, row))]
    assert masker.rows == len(back)
