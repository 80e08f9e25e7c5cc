"""Certification of the data rows with their neighbours: small boxes around each."""
