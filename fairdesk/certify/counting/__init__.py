"""Points counted one by one, and what sampling says of those left undecided."""
