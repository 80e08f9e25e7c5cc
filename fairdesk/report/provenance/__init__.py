"""What shows that a report is this audit's, and unchanged: manifest, signatures."""
