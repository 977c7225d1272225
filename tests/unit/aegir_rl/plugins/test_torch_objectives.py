"""The policy loss in torch has the value of the one in numpy, and autograd finds its gradient."""

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.rl import (
    BandForm,
    CispoForm,
    PpoForm,
    compute_policy_loss,
    truncate_importance,
)

torch = pytest.importorskip("torch", reason="torch is not here (train extra)")
from aegir_rl.plugins.torch_objectives import policy_loss  # noqa: E402

FORMS = {
    "ppo": PpoForm(0.2),
    "clip-higher": PpoForm(0.2, clip_high=0.28),
    "dual clip": PpoForm(0.2, dual=1.5),
    "band": BandForm(0.8, 1.2, tau=0.1),
    "cispo": CispoForm(1.3),
}


def draw(seed, shape):
    random = np.random.default_rng(seed)
    old = -random.exponential(1.0, shape)
    new = old + 0.5 * random.standard_normal(shape)
    mask = random.random(shape) < 0.7
    mask[0] = True
    mask[-1] = False  # a row without tokens
    return new, old, random.standard_normal(shape[0]), mask


def both(form, new, old, advantages, dtype=torch.float64, **settings):
    tensor = torch.tensor(new, dtype=dtype, requires_grad=True)
    given = {name: x if isinstance(x, str) else torch.tensor(x) for name, x in settings.items()}
    loss = policy_loss(tensor, torch.tensor(old), torch.tensor(advantages), form, **given)
    loss.backward()
    return compute_policy_loss(new, old, advantages, form, **settings), loss, tensor.grad


@pytest.mark.parametrize("level", ["token", "sequence"])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("shape", [(5, 7), (3, 4, 2), (2, 1)])
def test_value_and_gradient_are_those_of_numpy(form, level, shape):
    new, old, advantages, mask = draw(3, shape)
    weights = np.linspace(0.5, 2, shape[0])
    by = "token" if level == "token" else "row"
    correction = truncate_importance(old, old + 0.3, 1.5, by=by, mask=mask)
    ours, loss, gradient = both(
        form, new, old, advantages, level=level, mask=mask, weights=weights, correction=correction
    )
    assert loss.item() == pytest.approx(ours.value, rel=1e-12, abs=1e-15)
    np.testing.assert_allclose(gradient.numpy(), ours.gradient, rtol=1e-11, atol=1e-15)
    assert mask.sum() == 1 or np.abs(ours.gradient).max() > 0  # one token may be clipped


def test_what_is_masked_counts_for_nothing_whatever_it_holds():
    new, old, advantages, mask = draw(1, (4, 6))
    clean = both(PpoForm(), new, old, advantages, mask=mask)[1].item()
    new[~mask], old[~mask] = np.nan, np.inf
    ours, loss, gradient = both(PpoForm(), new, old, advantages, mask=mask)
    assert loss.item() == pytest.approx(clean) == pytest.approx(ours.value)
    assert (gradient.numpy()[~mask] == 0).all()


def test_missing_advantages_are_left_out():
    new, old, advantages, _ = draw(2, (4, 6))
    advantages[1] = np.nan
    ours, loss, gradient = both(PpoForm(), new, old, advantages)
    assert loss.item() == pytest.approx(ours.value)
    assert (gradient.numpy()[1] == 0).all()


def test_the_dtype_of_the_log_probabilities_is_kept():
    new, old, advantages, mask = draw(4, (4, 6))
    ours, loss, gradient = both(PpoForm(), new, old, advantages, dtype=torch.float32, mask=mask)
    assert (loss.dtype, gradient.dtype) == (torch.float32, torch.float32)
    assert loss.item() == pytest.approx(ours.value, rel=1e-4)


def test_without_a_token_the_loss_is_0():
    new, old, advantages, mask = draw(5, (2, 3))
    for level in ("token", "sequence"):
        _, loss, gradient = both(
            PpoForm(), new, old, advantages, mask=np.zeros_like(mask), level=level
        )
        assert loss.item() == 0
        assert (gradient == 0).all()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"old": torch.zeros(2, 4)}, r"new log probabilities have shape \(2, 3\) but old ones"),
        ({"advantages": torch.zeros(3)}, r"advantages has shape \(3,\) but the tokens \(2, 3\)"),
        ({"level": "row"}, "level is 'row'; expected token or sequence"),
        ({"new": torch.full((2, 3), float("nan"))}, "not finite on 6 of 6 tokens that count"),
    ],
)
def test_wrong_arguments_are_refused(change, sentence):
    given = {"new": torch.zeros(2, 3), "old": torch.zeros(2, 3), "advantages": torch.zeros(2)}
    with pytest.raises(UsageError, match=sentence):
        policy_loss(**{**given, **change})
