"""What holds the pages of an audit together, and those about its data and its log."""
