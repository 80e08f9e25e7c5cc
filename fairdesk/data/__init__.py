"""What an individual is: columns, tables, attributes and the domain they span."""
