"""The documentation's pages, for the site and for the help in the window."""
