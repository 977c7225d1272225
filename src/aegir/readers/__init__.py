"""Readers: the models and rules that score columns, behind one interface (`scores.Annotator`)."""
