"""Krippendorff's own worked examples of alpha, with the figures he prints.

Source: Klaus Krippendorff, "Computing Krippendorff's Alpha-Reliability" (University of Pennsylvania, 2011), the
example of four observers, twelve units and missing data: alpha .743 nominal, .815 ordinal, .849 interval,
.797 ratio. The further digits were computed by the `krippendorff` package 0.9 on the same table, which agrees
with the printed ones. The example of three coders and fifteen units, .691 nominal and .811 interval, is the
one of the encyclopedia articles on alpha.
"""

import numpy as np

_ = np.nan

FOUR_OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
        [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
    ]
)
FOUR_OBSERVERS_ALPHA = {
    "nominal": 0.743421052631579,
    "ordinal": 0.815387503754881,
    "interval": 0.849107142857143,
    "ratio": 0.797402774711612,
}

THREE_CODERS = np.array(
    [
        [_, _, _, _, _, 3, 4, 1, 2, 1, 1, 3, 3, _, 3],
        [1, _, 2, 1, 3, 3, 4, 3, _, _, _, _, _, _, _],
        [_, _, 2, 1, 3, 4, 4, _, 2, 1, 1, 3, 3, _, 4],
    ]
)
THREE_CODERS_ALPHA = {"nominal": 0.691, "interval": 0.811}
