"""The command line: parse, call one function below, present."""
