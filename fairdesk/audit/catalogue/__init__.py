"""The methods there are: what each finds, what it cannot tell, and its options."""
