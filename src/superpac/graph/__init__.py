"""From an affinity to clusters: spectral embedding, k-means, diffusion, pieces of a graph."""
