"""The questions that an auditor has, and an audit's best answer to each: for window and report."""
