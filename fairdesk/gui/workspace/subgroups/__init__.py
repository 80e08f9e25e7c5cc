"""Subgroups found: the list of findings, a rule in detail, terms in texts."""
