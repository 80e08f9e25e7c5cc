"""The page of certified shares."""
