"""Readers: whoever scores a column, behind one interface (`scores.Annotator`)."""
