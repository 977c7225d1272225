"""Rewards: what is called good, measured. Import from the modules; this one holds only their map.

The reward of a router
    performance          F1 of answers, and r_perf
    parallelism          r_parallel: specialists used evenly, and where they help
    completion           r_finish: everything answered, routing not degenerate
    combined             their weighted sum with its parts beside it; lambda_calibration suggests the weights
    routing              activations, read once and checked
    hacks                ways to earn without working, with evidence
    sweeps               each reward over what it measures, for plots

Several raters
    ensemble             one score from many raters, with a veto when they disagree
    rater_calls          raters that raise, hang or answer nonsense; ratings reads what they gave
    aggregation          median, trimmed, weighted, majority
    agreement            Krippendorff's alpha; agreement_stream in batches, agreement_bootstrap its interval,
                         ratio_disagreement its fast sum for ratio data
    rater_report         who disagrees, drifts, saturates; from rater_reliability and rater_drift

Scale
    running_normalizer   z-scores by what was seen so far, on exact_moments
    group_advantages     advantages within groups, and whether normalising survives them
    calibration          whether confidence means what it says

Is training well?
    health               a report per update; run_health for a run folder
    health_measures      figures from arrays; health_rules the bounds they are held against
    drift_watch          bounds the steps between false alarms, watches for ever
    drift_verdict        bounds the chance of ever being wrong; both bet with rank_bets
"""
