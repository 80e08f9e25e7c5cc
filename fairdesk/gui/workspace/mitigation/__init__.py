"""The page of mitigation."""
