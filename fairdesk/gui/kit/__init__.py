"""Building blocks of the window: widgets, theme, threads, settings."""
