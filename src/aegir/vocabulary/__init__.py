"""Vocabulary: the names Aegir answers with, their meaning, and how they nest."""
