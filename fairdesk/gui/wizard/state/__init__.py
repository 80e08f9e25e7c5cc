"""The wizard without its window: the plan as far as it is answered, and what is missing."""
