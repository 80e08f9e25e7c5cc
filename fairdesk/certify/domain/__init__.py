"""The input domain as boxes: axes, constraints, columns, and the tree of boxes."""
