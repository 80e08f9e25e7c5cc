"""How table columns become a model's inputs: mapping, companions, feeding, and the input check."""
