"""Compiled kernels behind the affinity estimators."""
