"""What is said of certificates that are about the data rows."""
