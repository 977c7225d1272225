"""Families of tasks: each draws tasks of one kind, from a random generator and a level of difficulty.

family     what a family is, and parts that families share
registry   the families by name; a new one is a file here and a line there
"""
