"""The sections on what was audited: the data, the model, who is compared."""
