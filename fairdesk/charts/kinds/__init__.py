"""The kinds of charts: one module each, with what it shows, its layout and its words."""
