"""Work beside the thread of the window: models, the audit file, what can wait."""
