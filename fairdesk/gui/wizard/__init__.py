"""The new-audit wizard: its state machine (without Qt) and its five pages."""
