"""Which files are found, and what is said when none are."""

import os
from pathlib import Path
from unittest.mock import patch

import pytest

from aegir.tables.formats import find_table_files
from aegir.tables.readers import read_tables
from aegir_rl.base.errors import UnreadableTable, UsageError


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    for name in ("b.csv", "a.parquet", "notes.md", ".hidden.csv", "deep/c.json.gz", ".git/d.csv"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    (tmp_path / "deep" / "loop").symlink_to(tmp_path, target_is_directory=True)
    return tmp_path


def names(paths: list[Path], folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in paths]


def test_a_folder_gives_its_tables_sorted_and_skips_hidden_files_and_loops(lake: Path) -> None:
    assert names(find_table_files([lake]), lake) == ["a.parquet", "b.csv", "deep/c.json.gz"]


def test_a_named_file_is_kept_whatever_its_suffix(lake: Path) -> None:
    assert names(find_table_files([lake / "notes.md", lake]), lake)[0] == "notes.md"


def test_patterns_reach_into_folders(lake: Path) -> None:
    assert names(find_table_files([f"{lake}/**/*.csv"]), lake) == ["b.csv"]
    assert names(find_table_files([f"{lake}/*.md"]), lake) == ["notes.md"]


def test_two_links_to_their_own_folder_do_not_trap_a_pattern(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.csv").write_text("x")
    for name in ("loop", "again", "deep/up"):
        (tmp_path / name).symlink_to(tmp_path, target_is_directory=True)
    for pattern in ("**/*.csv", "**/deep/*.csv", "**/**/deep/**"):
        assert names(find_table_files([f"{tmp_path}/{pattern}"]), tmp_path) == ["deep/b.csv"]


def test_a_file_behind_a_link_to_a_folder_outside_is_found(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "b.csv").write_text("x")
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "link").symlink_to(tmp_path / "outside", target_is_directory=True)
    assert names(find_table_files([f"{tmp_path}/lake/**/*.csv"]), tmp_path) == ["lake/link/b.csv"]


def test_a_link_to_itself_is_found_and_reading_it_says_so(lake: Path) -> None:
    (lake / "self.csv").symlink_to(lake / "self.csv")
    for given in (lake, f"{lake}/*.csv", f"{lake}/**/*.csv", lake / "self.csv"):
        assert lake / "self.csv" in find_table_files([given])
    with pytest.raises(UnreadableTable, match=r"self\.csv"):
        list(read_tables(lake / "self.csv"))


def test_a_file_that_cannot_be_looked_at_is_found_so_that_reading_it_says_why(lake: Path) -> None:
    look = Path.stat

    def refuse(path: Path, **options: bool) -> os.stat_result:
        if path.name == "b.csv":
            raise OSError(5, "Input/output error", str(path))
        return look(path, **options)

    with patch.object(Path, "stat", refuse):
        assert lake / "b.csv" in find_table_files([lake])
        assert find_table_files([f"{lake}/*.csv"]) == [lake / "b.csv"]


def test_each_file_comes_once(lake: Path) -> None:
    assert len(find_table_files([lake / "b.csv", lake, f"{lake}/*.csv"])) == 3


def test_a_file_whose_name_looks_like_a_pattern_is_a_file(tmp_path: Path) -> None:
    path = tmp_path / "data[1].csv"
    path.write_text("x")
    assert find_table_files([path]) == [path]


def test_a_missing_path_is_named() -> None:
    with pytest.raises(UsageError, match="no file or folder nowhere"):
        find_table_files(["nowhere"])
    with pytest.raises(UsageError, match=r"no file matches nowhere/\*\.csv"):
        find_table_files(["nowhere/*.csv"])


def test_a_folder_without_tables_lists_the_suffixes(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"holds no tables; Aegir looks for \.csv \.tsv"):
        find_table_files([tmp_path])


def test_a_link_to_nothing_is_found_and_reading_it_says_so(lake: Path) -> None:
    (lake / "gone.csv").symlink_to(lake / "nowhere.csv")
    (lake / "gone.md").symlink_to(lake / "nowhere.md")
    for given in (lake, f"{lake}/*.csv"):
        assert lake / "gone.csv" in find_table_files([given])
        assert lake / "gone.md" not in find_table_files([given])
    with pytest.raises(UnreadableTable, match=r"gone\.csv is a link to a file that is not there"):
        list(read_tables(lake / "gone.csv"))


@pytest.mark.parametrize("closed", [".", "deep"])
def test_a_folder_without_permission_is_found_and_reading_it_says_so(
    lake: Path, closed: str
) -> None:
    folder, scandir = lake / closed, os.scandir

    def refuse(place: str) -> object:  # the super-user may read every folder
        if Path(place) == folder:
            raise PermissionError(13, "Permission denied", place)
        return scandir(place)

    with patch("os.scandir", refuse):
        assert folder in find_table_files([lake])
        assert folder in find_table_files([f"{lake}/**/*.csv"])
        with pytest.raises(UnreadableTable, match=f"{folder} may not be read by this user"):
            list(read_tables(folder))
