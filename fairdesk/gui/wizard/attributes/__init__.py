"""Step 3 of the wizard: attributes, their ranges, and constraints."""
