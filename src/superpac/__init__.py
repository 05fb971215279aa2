"""Clustering with as few human answers as possible."""
