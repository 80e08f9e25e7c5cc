"""One audit: what was asked, the process that asks the model, and the file that remembers."""
