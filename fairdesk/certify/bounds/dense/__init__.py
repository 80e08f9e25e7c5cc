"""Bounding networks of dense layers over boxes, compiled: the loops of `bounds.network`."""
