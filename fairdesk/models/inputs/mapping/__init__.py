"""How table columns become a model's inputs: proposed from everything that the files tell."""
