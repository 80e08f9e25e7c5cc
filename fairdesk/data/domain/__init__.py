"""The input domain: attributes, their roles and ranges, constraints, and whether it is feasible."""
