"""Training an opened model again on other rows, and writing it as files."""
