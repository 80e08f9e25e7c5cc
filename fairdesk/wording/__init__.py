"""The sentences, numbers and labels that the window, the report and the command line share."""
