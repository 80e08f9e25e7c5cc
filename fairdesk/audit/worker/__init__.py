"""The process that holds the model: its server, its client, and what crosses the pipe."""
