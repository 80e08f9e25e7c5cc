"""What is worth knowing about a table before an audit: problems, outcomes, leaks, suggestions."""
