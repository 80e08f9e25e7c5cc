"""What the data say of whole rows: how usual, how near to the data, how alike sets are."""
