"""TestSGD on tables: rules, their support, samples, and results."""
