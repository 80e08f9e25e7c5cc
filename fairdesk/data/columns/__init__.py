"""Columns from cells: which are numbers, how these are written, and odd cells."""
