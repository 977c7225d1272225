"""Good rewards pass, each kind of broken reward fails the check that is meant for it."""

import json
import re
from dataclasses import asdict, replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from aegir.lab.reward_validation.cases import read_cases
from aegir.lab.reward_validation.config import ValidationConfig, read_validation_config
from aegir.lab.reward_validation.report import ValidationReport
from aegir.lab.reward_validation.report_page import render_page
from aegir.lab.reward_validation.validation import default_components, validate_rewards
from aegir_rl.base.errors import UsageError
from aegir_rl.episode import EpisodeBatch
from aegir_rl.rewards.completion import FinishWeights
from aegir_rl.rewards.parallelism import ParallelWeights
from aegir_rl.rewards.performance import compute_r_perf

torch = pytest.importorskip("torch", reason="validation measures gradients with torch")

SMALL = ValidationConfig(episodes=1536, learning_steps=8, learning_episodes=128)


@pytest.fixture(scope="module")
def good() -> ValidationReport:
    return validate_rewards(SMALL)


def failed(report: ValidationReport) -> set[tuple[str, str]]:
    return {(check.kind, check.component) for check in report.failures}


def test_the_shipped_rewards_pass_every_check(good):
    assert [check.name for check in good.failures] == []
    assert {check.kind for check in good.checks} == {
        "gradient",
        "polarity",
        "independence",
        "scale",
        "presence",
    }


def test_every_component_has_a_gradient_and_a_constant_reward_has_none(good):
    control, *_ = (check for check in good.checks if check.kind == "gradient")
    assert control.evidence["norm"] == 0.0
    standing = [check for check in good.checks if "floor" in check.evidence]
    assert [check.component for check in standing] == ["perf", "parallel", "finish"]
    for check in standing:
        assert check.evidence["norm"] > check.evidence["floor"] > 0


def test_the_three_named_cases_are_among_those_checked():
    names = [case.name for case in read_cases("independence")]
    assert names[:3] == ["accurate but one-sided", "balanced but incomplete", "complete but wrong"]


def test_the_suggested_lambdas_bring_the_parts_to_the_asked_share_of_r_perf(good):
    for name, share in (("parallel", 0.3), ("finish", 0.1)):
        scale = good.scales[name]
        assert scale.suggested_lambda * scale.spread == pytest.approx(
            share * good.scales["perf"].spread
        )


def test_the_same_seed_gives_the_same_report(good):
    assert validate_rewards(SMALL).as_dict() == good.as_dict()


def test_another_seed_passes_too():
    other = ValidationConfig(seed=7, episodes=1536, learning_steps=8, learning_episodes=128)
    assert validate_rewards(other).passed


def test_a_constant_reward_fails_gradient_polarity_and_scale():
    report = validate_rewards(SMALL, {"parallel": lambda batch: np.full(len(batch), 0.1)})
    assert {("gradient", "parallel"), ("polarity", "parallel"), ("scale", "parallel")} <= failed(
        report
    )
    assert ("gradient", "perf") not in failed(report)


def test_a_reward_with_the_wrong_sign_fails_polarity_only_its_own():
    report = validate_rewards(
        SMALL, {"perf": lambda batch: -compute_r_perf(batch.gold, batch.predicted)}
    )
    assert ("polarity", "perf") in failed(report)
    assert ("polarity", "finish") not in failed(report)
    assert ("gradient", "perf") not in failed(report)  # it has a gradient, the wrong way round


def test_a_reward_of_pure_noise_has_no_gradient_that_stands_out():
    def noise(batch: EpisodeBatch) -> np.ndarray:
        return np.random.default_rng(len(batch)).random(len(batch))

    report = validate_rewards(SMALL, {"finish": noise})
    assert ("gradient", "finish") in failed(report)


def test_one_reward_under_two_names_fails_independence():
    report = validate_rewards(SMALL, {"finish": default_components(SMALL)["perf"]})
    assert any(
        check.name == "perf and finish are not the same" and check.evidence["correlation"] > 0.99
        for check in report.failures
    )


def test_a_reward_on_another_scale_fails_scale():
    parallel = default_components(SMALL)["parallel"]
    report = validate_rewards(SMALL, {"parallel": lambda batch: 1000 * parallel(batch)})
    assert ("scale", "parallel") in failed(report)


@pytest.mark.parametrize("raising", [lambda batch: 1 / 0, lambda batch: [1.0, 2.0]])
def test_a_reward_that_raises_or_has_a_wrong_shape_fails_and_the_others_go_on(raising):
    report = validate_rewards(SMALL, {"finish": raising})
    assert {component for _, component in failed(report)} <= {"finish", "all"}
    (error,) = report.errors
    assert error.startswith("component 'finish': ")
    json.dumps(report.as_dict(), allow_nan=False)


def test_a_reward_that_is_missing_on_half_of_the_tables_fails_presence():
    perf = default_components(SMALL)["perf"]

    def half(batch: EpisodeBatch) -> np.ndarray:
        return np.where(np.arange(len(batch)) % 2 == 0, perf(batch), np.nan)

    report = validate_rewards(SMALL, {"perf": half})
    (check,) = (check for check in report.failures if check.kind == "presence")
    assert check.component == "perf"
    assert 0.45 < check.evidence["missing"] < 0.55


def test_a_penalty_that_leaves_the_range_only_on_degenerate_routing_fails_scale():
    """Coverage 1 and gamma 10 give 1 - 10 = -9 on tables that are always on."""
    report = validate_rewards(replace(SMALL, finish=FinishWeights(gamma=10)))
    assert ("scale", "finish") in failed(report)
    (check,) = (c for c in report.failures if (c.kind, c.component) == ("scale", "finish"))
    assert check.evidence["lowest"] < -8


def test_without_its_penalty_r_finish_does_not_leave_a_collapse():
    config = ValidationConfig(
        episodes=1536, learning_steps=8, learning_episodes=128, finish=FinishWeights(gamma=0)
    )
    names = [check.name for check in validate_rewards(config).failures]
    assert "leaves a router that is always on" in names
    assert "varied beats one pattern" in names


def test_a_component_of_your_own_is_put_to_the_same_questions():
    report = validate_rewards(
        SMALL, {"brevity": lambda batch: 1 - batch.activations().mean((1, 2))}
    )
    own = [check for check in report.checks if check.component == "brevity"]
    assert [check.kind for check in own] == ["gradient", "gradient", "scale", "presence"]
    assert all(check.passed for check in own)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.found.append(tag)


def test_the_page_stands_alone_and_has_plots(good):
    page = render_page(good)
    tags = _Tags()
    tags.feed(page)
    assert tags.found.count("svg") == 9
    assert not {"script", "link", "img", "iframe"} & set(tags.found)
    assert re.findall(r'(?:src|href)="', page) == []
    assert "passed" in page


def test_a_failing_page_says_so_and_escapes_what_components_say():
    report = validate_rewards(SMALL, {"perf": lambda batch: {"a": 1}["<b>"]})
    page = render_page(report)
    assert "checks failed" in page
    assert page.index("FAILED") < page.index(">passed<")
    assert "To do: return a number for every table" in page
    assert "aegir rewards validate --out x" in render_page(report, "aegir rewards validate --out x")
    assert "&lt;b&gt;" in page
    assert "<b>" not in page


def test_a_config_file_changes_what_it_names(tmp_path: Path):
    path = tmp_path / "c.toml"
    path.write_text("seed = 3\n[parallel]\nalpha = 1\n[limits]\nhigh = 0.6\n")
    config = read_validation_config(path)
    assert (config.seed, config.limits.high) == (3, 0.6)
    assert config.parallel == ParallelWeights(alpha=1.0)
    assert asdict(config.finish) == asdict(FinishWeights())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[paralel]\nalpha = 1", "unknown key 'paralel' in .*; did you mean 'parallel'?"),
        (
            "[parallel]\nalhpa = 1",
            r"unknown key 'alhpa' in \[parallel\] of .*; did you mean 'alpha'",
        ),
        ("zzz = 1", "unknown key 'zzz' in .*; there are seed, episodes"),
        ("episodes = 1", "episodes is 1; expected 64 or more"),
        ("episodes = 1.5", "'episodes' in .* is 1.5; expected a whole number"),
        ("lambda_finish = 'x'", "expected a number"),
        ("lambda_finish = -1", "lambda_finish is -1.0; expected a number, 0 or more"),
        ("lambda_finish = true", "is True; expected a number"),
        ("parallel = 3", r"expected a section \[parallel\]"),
        ("[finish]\ngamma = nan", "gamma is nan"),
        ("[limits]\nhigh = 0", "limits.high is 0.0; expected above 0"),
        ("[", "is no TOML file"),
    ],
)
def test_a_config_that_cannot_be_used_is_refused_in_a_sentence(tmp_path: Path, text, sentence):
    path = tmp_path / "c.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=sentence):
        read_validation_config(path)


def test_a_config_that_is_not_there_is_refused(tmp_path: Path):
    with pytest.raises(UsageError, match="No such file"):
        read_validation_config(tmp_path / "none.toml")
