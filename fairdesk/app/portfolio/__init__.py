"""Many audits of one plan: run one after the other, and told together."""
