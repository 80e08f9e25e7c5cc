"""What all pages of one audit share: the open audit, its runs, pairs and their study."""
