"""Examiners of boxes: bounds of networks, linear models and trees."""
