"""SUPERPAC-B: one model of sets and items, one rule for what to ask."""
