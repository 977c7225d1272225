"""Who gets the column: every column gets as much effort as it needs.

dispatcher      the `dispatch` annotator: features, decision, worker, fallbacks, budget
routed_table    how the columns of a table were routed, as episodes
static_table    `routing.yaml`: ordered rules with readable conditions, roles with fallbacks
learnt_policy   a policy learnt from logged decisions; the static table decides where it cannot
choices         the first choice for every column, who made it and why
exploration     other workers tried on purpose, with known probability
collecting      decisions about labelled tables, with the outcome of every worker
comparing       the same tables with the policy off, on, and read in full
bench_tables    the tables of such a comparison: those that come with Aegir, or any folder
run_pack        all that is needed to repeat a comparison, and its repetition
corrections     what a user says that columns of a past run really are
features        what a decision may look at
"""
