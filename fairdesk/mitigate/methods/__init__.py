"""The methods of mitigation, and the loop of trials that they share."""
