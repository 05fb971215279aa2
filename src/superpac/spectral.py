"""From an affinity matrix to an embedding and labels."""
