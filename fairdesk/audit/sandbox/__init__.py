"""How the model process is confined on each system, and what was found to hold."""
