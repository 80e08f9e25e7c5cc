"""What is measured of every trial's model, and how two models differ."""
