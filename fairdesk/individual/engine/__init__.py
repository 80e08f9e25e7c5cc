"""What all searches stand on: the search context, the model with a memory, steps and seeds."""
