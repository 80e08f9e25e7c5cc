"""The page that compares methods."""
