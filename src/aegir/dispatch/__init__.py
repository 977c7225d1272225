"""Who gets the column: every column gets as much effort as it needs.

dispatcher      the `dispatch` annotator: features, decision, worker, fallbacks, budget
static_table    `routing.yaml`: ordered rules with readable conditions, roles with fallbacks
learnt_policy   a policy learnt from logged decisions; the static table decides where it cannot
choices         the first choice for every column, who made it and why
exploration     other workers tried on purpose, with known probability
features        what a decision may look at
small_yaml      the part of YAML that routing tables use
"""
