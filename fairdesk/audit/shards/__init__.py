"""How a run is divided into shards that may run anywhere, and how these are merged again."""
