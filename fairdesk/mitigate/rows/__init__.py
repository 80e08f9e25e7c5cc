"""The rows that a mitigation trains with: splits, pools, samples and their labels."""
