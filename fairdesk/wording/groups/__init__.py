"""Sentences about groups: those that are known, and those that a search found."""
