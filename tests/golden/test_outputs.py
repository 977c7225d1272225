"""The recorded outputs that hold on any machine: labels, formats, vocabulary, made-up decisions and tasks.

The other cases of outputs.py depend on the last bits of floating-point arithmetic; run them with
`python tests/golden/outputs.py compare` on the machine that recorded them.
"""

import outputs
import pytest

PORTABLE = [case for case in outputs.CASES if case.name.startswith("portable/")]


@pytest.mark.parametrize("case", PORTABLE, ids=lambda case: case.name)
def test_outputs_are_those_recorded(case: outputs.Case):
    if missing := case.missing_programs():
        pytest.skip(f"needs {', '.join(missing)}")
    golden = {
        entry: value
        for entry, value in outputs.read_golden().items()
        if outputs.belongs_to(entry, case)
    }
    found = outputs.run_case(case)
    different = [entry for entry in found if golden.get(entry) != outputs.digest(found[entry])]
    assert not different, {entry: found[entry][:2000] for entry in different}
    assert golden.keys() == found.keys()


def test_names_of_cases_do_not_contain_each_other():
    names = [case.name for case in outputs.CASES]
    assert len(set(names)) == len(names)
    assert not [(one, other) for one in names for other in names if other.startswith(f"{one}/")]


def test_every_recorded_output_belongs_to_a_case():
    assert outputs.read_golden().keys() == {
        entry
        for entry in outputs.read_golden()
        if any(outputs.belongs_to(entry, case) for case in outputs.CASES)
    }
