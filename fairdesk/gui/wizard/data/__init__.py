"""Step 1 of the wizard: the table and its outcome."""
