"""An audit from its question to its files, without a window."""
