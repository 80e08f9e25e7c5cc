"""A certificate checked again, by other means than it was made with: `verify` begins."""
