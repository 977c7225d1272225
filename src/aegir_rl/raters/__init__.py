"""One score from several raters that may fail, disagree or drift.

ensemble             one score from many raters, with a veto when they disagree; settings are its settings
calls                calls raters that may raise, hang or return no valid ratings; ratings reads what they return
aggregation          mean, median, trimmed, weighted, majority; reliabilities of raters
agreement            Krippendorff's alpha with its interval; agreement_stream in batches
report               which raters disagree, drift, saturate or are silent
"""

from aegir_rl.base.lazy import lazy_names

__getattr__ = lazy_names(__name__, __file__)
