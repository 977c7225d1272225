"""One score from several raters that may fail, disagree or drift.

ensemble             one score from many raters, with a veto when they disagree; settings are its settings
calls                calls raters that may raise, hang or return no valid ratings; ratings reads what they return
aggregation          mean, median, trimmed, weighted, majority; reliabilities of raters
agreement            Krippendorff's alpha with its interval; agreement_stream in batches
report               which raters disagree, drift, saturate or are silent
"""

from typing import TYPE_CHECKING

from aegir_rl.base.lazy import lazy_names

if TYPE_CHECKING:
    from aegir_rl.raters.aggregation import aggregate
    from aegir_rl.raters.agreement import Agreement, alpha_interval, krippendorff_alpha
    from aegir_rl.raters.agreement_stream import AgreementStream
    from aegir_rl.raters.ensemble import EnsembleScores, RewardEnsemble
    from aegir_rl.raters.report import report_raters
    from aegir_rl.raters.settings import EnsembleSettings

__all__ = [
    "Agreement",
    "AgreementStream",
    "EnsembleScores",
    "EnsembleSettings",
    "RewardEnsemble",
    "aggregate",
    "alpha_interval",
    "krippendorff_alpha",
    "report_raters",
]
__getattr__ = lazy_names(
    __name__,
    {
        "Agreement": "agreement",
        "AgreementStream": "agreement_stream",
        "EnsembleScores": "ensemble",
        "EnsembleSettings": "settings",
        "RewardEnsemble": "ensemble",
        "aggregate": "aggregation",
        "alpha_interval": "agreement",
        "krippendorff_alpha": "agreement",
        "report_raters": "report",
    },
)
