"""Training: one readable recipe per way of learning."""
