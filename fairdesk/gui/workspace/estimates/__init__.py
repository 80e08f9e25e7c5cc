"""The page of estimated shares."""
