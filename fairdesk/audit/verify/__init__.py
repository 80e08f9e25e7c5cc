"""An audit checked again: file, data, model, pairs and figures; and run again."""
