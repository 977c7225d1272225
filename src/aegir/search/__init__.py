"""How much work a table gets: wide and deep search under one budget.

effort       what `--effort` and `--within` mean: which columns are searched, how far, until when
witnesses    who can be asked about a column that stays ambiguous, and how much that counts
added_specialists    specialists of the user's pool, asked about the types that they tell apart
validating   whether such a specialist is to be asked: its weight and gain on labelled tables
deep         the search down the type tree, column by column, and the path that is shown
annotator    the `search` annotator: first pass, wide, deep, then all columns of the table together
"""
