"""What searches and proofs say of people: plausible pairs, and what was planted and found again."""
