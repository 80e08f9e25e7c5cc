"""The report page's form: what only people can tell of a report."""
