"""Group metrics: selection rates, error rates, and their significance."""
