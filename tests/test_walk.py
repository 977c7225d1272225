"""The walk of `aegir annotate examples/books.csv`, measured: how much code a reader may meet. These numbers may only fall."""

import pytest

import architecture_page

FILES_EXECUTED = 74
MODULES_LOADED = 110


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> architecture_page.Walk:
    return architecture_page.walk(tmp_path_factory.mktemp("walk"))


def test_it_passes_through_every_file_that_the_page_names(walk: architecture_page.Walk):
    assert [file for file in architecture_page.WALK if f"aegir/{file}" not in walk.files] == []


def test_it_executes_few_files_and_loads_few_modules(walk: architecture_page.Walk):
    assert len(walk.files) <= FILES_EXECUTED, walk.files
    assert len(walk.modules) <= MODULES_LOADED, walk.modules


def test_the_page_follows_it_in_nine_stations():
    readers = [file for file in architecture_page.WALK if file.startswith("readers/")]
    assert len(architecture_page.WALK) - len(readers) + 1 == 9
