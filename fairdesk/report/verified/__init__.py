"""The results of verifying an audit, in words, as JSON and as a report."""
