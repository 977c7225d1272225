"""A saved state that lacks something, told in one sentence before anything is changed.

    check_state(state, "the saved curriculum", "strategy", "tries")
    # UsageError: the saved curriculum has no 'tries'; expected what its state_dict gives: strategy, tries

Everything that remembers offers `state_dict` and `load_state_dict`; a file that was cut off, or the state of something
else, reaches the second. Only names are looked at: what stands under them is judged by whoever reads it.
"""

from collections.abc import Mapping

from aegir.errors import UsageError


def check_state(state: object, whose: str, *keys: str) -> None:
    """Refuse a state that is no mapping or lacks one of `keys`; `whose` begins the sentence."""
    expected = f"expected what its state_dict gives: {', '.join(keys)}"
    if not isinstance(state, Mapping):
        raise UsageError(f"{whose} is a {type(state).__name__}; {expected}")
    missing = [repr(key) for key in keys if key not in state]
    if missing:
        raise UsageError(f"{whose} has no {' and no '.join(missing)}; {expected}")
