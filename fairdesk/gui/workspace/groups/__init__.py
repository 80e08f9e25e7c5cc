"""The page of groups, and its tables of group metrics."""
