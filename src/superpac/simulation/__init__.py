"""Answers without a person, for measuring: oracles and the loop around ask and tell."""
