"""The searches as their papers write them, one instance at a time: what ours are held against."""
