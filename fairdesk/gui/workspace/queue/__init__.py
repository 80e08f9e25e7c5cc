"""The runs that wait, run and have ended, at the bottom of the window."""
