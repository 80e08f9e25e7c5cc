"""Group discrimination: how groups of real people fare."""
