"""Files made to do harm, and what came of opening each."""
