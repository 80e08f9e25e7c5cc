"""The overview: five answers, what to do next, and the runs."""
