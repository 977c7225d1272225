"""Several raters, one reward.

ensemble             scores from many raters, with a veto when they disagree
calls                calls raters that may raise, hang or return no valid ratings
ratings              reads ratings as a matrix of raters × units
aggregation          median, trimmed mean, weights, majority; reliability of raters
agreement            Krippendorff's alpha
agreement_stream     alpha of a stream of batches
agreement_bootstrap  a confidence interval of alpha
ratio_disagreement   fast sum over pairs, for alpha of ratio data
report               which raters disagree, drift, saturate or are silent
"""
