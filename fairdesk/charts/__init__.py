"""Charts: what each shows, and where it puts what. Window and report draw what is laid out here."""
