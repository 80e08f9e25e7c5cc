"""Step 2 of the wizard: the model, its inputs, and the input check."""
