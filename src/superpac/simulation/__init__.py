"""Answers without a person, for measuring: who answers, the loop, and how few would do."""
