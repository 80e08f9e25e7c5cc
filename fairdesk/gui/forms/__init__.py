"""Forms for a run: which method, its options, its time limit."""
