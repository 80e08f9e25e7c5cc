"""The workspace of an open audit: pages, runs and their state."""
