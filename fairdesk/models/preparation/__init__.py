"""Fitted scalers and encoders: what they tell, and which column is made from which input."""
