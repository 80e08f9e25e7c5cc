"""The documentation in the window: its pages, and which of them belongs to what is on screen."""
