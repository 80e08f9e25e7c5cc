"""What is inside an opened model, as data: dense layers, and trees as one list of nodes."""
