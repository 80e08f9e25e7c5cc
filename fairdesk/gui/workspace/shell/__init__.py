"""The workspace of an open audit around its pages: steps, runs, overview, log."""
