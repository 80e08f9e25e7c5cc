"""How realistic an instance is: plausibility, nearest rows, minimal changes, diversity."""
