"""The audit file: its tables, its records, and the hash chain of its log."""
