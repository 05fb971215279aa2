"""Rivals of the paper and of the literature, behind the same ask and tell."""
