"""Models in PMML, read as data: trees, regressions, scorecards, and what is made of these."""
