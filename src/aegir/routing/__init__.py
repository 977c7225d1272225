"""Who gets the column: every column gets as much effort as it needs.

decisions       routing tables, the first choice for every column, and what became of it
features        what a decision may look at
learnt_policy   a policy learnt from logged decisions; the static table decides where it cannot
exploration     other readers called on purpose, with known probability
episodes        decisions as episodes, to log and to learn from
corrections     what a user says that columns of a past run really are
"""
