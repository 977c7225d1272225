"""What users may import: a name more or less is a decision, so it is written down here."""

import ast
import sys
from importlib import import_module
from pathlib import Path

import pytest

from command_line import run_process

SOURCE = Path(__file__).parent.parent / "src"
PUBLIC = {
    "aegir": "Annotations Column ColumnAnnotation Guess Table TableAnnotation annotate annotate_async mask read_tables",
    "aegir_rl.episode": "ABSENT Choice Decision Episode EpisodeBatch LABEL NO_CHOICE Source TimedStep",
    "aegir_rl.rewards": (
        "CombinedReward FinishWeights ParallelWeights RewardBreakdown RunningNormalizer combine_rewards "
        "compute_parts compute_r_finish compute_r_parallel compute_r_perf detect_constant_routing "
        "detect_finish_inflation detect_serial_collapse detect_spurious_parallelism suggest_lambdas"
    ),
    "aegir_rl.raters": (
        "Agreement AgreementStream EnsembleScores EnsembleSettings RewardEnsemble aggregate alpha_interval "
        "krippendorff_alpha report_raters"
    ),
    "aegir_rl.health": (
        "HealthMonitor HealthReport RULES HealthRule Unwell check check_run measure_advantages measure_entropy "
        "measure_lengths measure_predictions measure_ratios measure_representation measure_rewards "
        "measure_routing measure_values"
    ),
    "aegir_rl.rl": (
        "AdaptiveKlControl BandForm CispoForm CriticalPath Curriculum FixedKlControl LinearSchedule "
        "PolicyLoss PpoForm SmoothLambdas StagedLambdas Strategy TokenWeights "
        "compute_critical_path compute_entropy compute_gae compute_information "
        "compute_policy_loss compute_reference_kl compute_stage_times compute_token_weights draw_waits find_waits "
        "group_advantages leave_one_out_advantages mark_boundaries read_spans register_strategy "
        "truncate_importance"
    ),
    "aegir_rl.offline": (
        "DecisionStore Estimate FittedQ LearningSettings LoggedDecisions PolicyComparison RewardWeights RoutingPolicy "
        "analyze_rewards choose_policy clone_behaviour compute_reward_v1 estimate_values evaluate_policy explore_epsilon "
        "explore_softmax learn_values read_log weigh write_log"
    ),
    "aegir.memory": "Match Review ReviewMemory ReviewStore default_location load_memory",
    "aegir.engines": "Engine Job LocalEngine RayEngine",
    "aegir_rl.observe": (
        "APIPerformanceTracker DriftWatch HeatMap LatencySketch Moments render_prometheus "
        "save_heat_map"
    ),
    "aegir_rl.simulator": (
        "Budget Case CodingBudget CodingEnv CodingEpisode Episodes Outcome OutcomeCache OutcomeTable PublicTask SimulatorEnv "
        "SimulatorVectorEnv Task TaskDataset Verdict build_table check collect create play read_suite read_tasks run_attempt "
        "score_answer write_dataset write_tasks"
    ),
    "aegir_rl.simulator.sandbox": ("CallResult Execution Limits Program Sandbox open_sandbox"),
    "aegir.swarm": (
        "AlignmentProjection ByteColumnModel ColumnModel FrozenSpecialist ModelOutput RWKVStateFusion "
        "SpecialistOutput SpecialistRouter SwarmOrchestrator SwarmOutput build_fusions limit_activations "
        "run_specialists save_swarm_folder"
    ),
    "aegir.readers.swarm.pool": "KindScore PoolEntry SpawnBudget Spawning SpecialistPool SpecialistValidation",
}


@pytest.mark.parametrize("package", PUBLIC)
def test_a_package_offers_these_names_and_no_others(package: str):
    module = import_module(package)
    assert sorted(module.__all__) == sorted(PUBLIC[package].split())
    for name in module.__all__:
        assert getattr(module, name) is not None


@pytest.mark.parametrize("package", PUBLIC)
def test_type_checkers_see_the_names_that_are_loaded(package: str):
    path = SOURCE.joinpath(*package.split("."), "__init__.pyi")
    imports = [
        (alias.name, node.module)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert sorted(name for name, _ in imports) == sorted(PUBLIC[package].split())
    for name, home in imports:
        assert getattr(import_module(home), name) is getattr(sys.modules[package], name)


@pytest.mark.parametrize("package", PUBLIC)
def test_dir_lists_the_names_that_a_package_offers(package: str):
    assert dir(import_module(package)) == sorted(PUBLIC[package].split())


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Reward'"):
        _ = import_module("aegir_rl.rewards").Reward


def test_importing_a_package_loads_none_of_its_modules():
    code = (
        "import sys, aegir, aegir_rl.rewards, aegir_rl.raters, aegir_rl.health, aegir_rl.rl, aegir_rl.observe, aegir_rl.offline, aegir.memory, "
        "aegir.engines, aegir_rl.simulator, aegir.swarm\n"
        "print(sorted(name for name in sys.modules if name.startswith(('aegir.', 'aegir_rl', 'numpy'))))"
    )
    library = ["health", "observe", "offline", "raters", "rewards", "rl", "simulator"]
    assert run_process(python=code).out.strip() == str(
        sorted(
            [
                *("aegir.engines", "aegir.memory", "aegir.swarm"),
                *("aegir_rl", "aegir_rl.base", "aegir_rl.base.lazy"),
                *(f"aegir_rl.{name}" for name in library),
            ]
        )
    )


@pytest.mark.parametrize("package", ["aegir", "aegir_rl"])
def test_a_package_says_that_it_is_typed(package: str):
    assert (SOURCE / package / "py.typed").is_file()
