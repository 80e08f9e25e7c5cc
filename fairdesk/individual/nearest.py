"""The nearest real person, by Gower's distance."""
