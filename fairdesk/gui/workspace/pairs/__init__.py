"""The page of discriminatory pairs."""
