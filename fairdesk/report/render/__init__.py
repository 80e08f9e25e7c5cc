"""How a report becomes PDF, HTML or JSON, and how its charts are drawn."""
