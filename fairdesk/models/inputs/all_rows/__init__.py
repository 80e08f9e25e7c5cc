"""The input check on all rows of a table that is larger than memory."""
