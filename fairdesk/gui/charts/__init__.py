"""Charts of the window, and what they share."""
