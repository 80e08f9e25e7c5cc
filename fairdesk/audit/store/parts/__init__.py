"""What the audit file keeps, by subject; the store has all of it."""
