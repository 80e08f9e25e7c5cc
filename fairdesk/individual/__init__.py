"""Individual discrimination: searches for people whose decision hangs on a protected attribute."""
