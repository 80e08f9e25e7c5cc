"""The published baselines: FairQuant and Fairify."""
