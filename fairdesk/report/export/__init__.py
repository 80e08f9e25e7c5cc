"""Files that leave an audit beside its report: tables, data, and their cards."""
