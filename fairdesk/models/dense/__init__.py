"""Networks of dense layers: chains read from files, compiled forward and backward passes."""
