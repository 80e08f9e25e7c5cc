"""Pages of the reference, made of what FairDesk itself says."""
