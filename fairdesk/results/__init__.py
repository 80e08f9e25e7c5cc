"""What a method yields while it works: findings, figures, progress, and mitigation trials."""
