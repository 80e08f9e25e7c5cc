"""How a model's outputs become decisions: outputs, the decision rule, the favourable class."""
