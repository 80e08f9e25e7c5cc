"""How groups fare: their rates, subgroups that were discovered, terms in texts."""
