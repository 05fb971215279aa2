"""SUPERPAC-D, the default strategy."""
