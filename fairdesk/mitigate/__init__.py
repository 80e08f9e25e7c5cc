"""Repair: label discriminatory people anew, add them to the training data, retrain, compare."""
