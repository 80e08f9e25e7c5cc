"""What leads from the window to its documentation: the “?”, and the definitions of terms."""
