"""Step 4: a standard audit, or methods to choose."""
