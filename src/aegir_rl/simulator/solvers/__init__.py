"""Programs that try to solve tasks, each with its own reach and cost; a policy chooses among them.

solver       the interface, running one safely, and the loop that most of them share
registry     the solvers by name
templates    functions for whole tables, with parameters fitted to the public cases and the statement
enumerative  texts put together from pieces of the value
repair       small changes of the starter code, guided by the public tests
regex        the narrowest form that the positive cases have
composition  readers and writers of dates, numbers, names, addresses, quantities and rows, chained by type
llm          a language model at an endpoint that the user names
"""
