"""A run from its beginning to its end, and what is done with its findings."""
