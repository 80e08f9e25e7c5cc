"""What was asked, frozen: the plan of an audit and of a run, decisions, class names."""
