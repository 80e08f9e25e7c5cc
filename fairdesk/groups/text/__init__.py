"""TestSGD on texts: terms, sentences rewritten, and results."""
