"""Local decision trees: their paths, the solver that toggles them, explanations of a pair."""
