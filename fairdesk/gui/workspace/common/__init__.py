"""Widgets that several pages of the workspace share."""
