"""Where arrays are computed: NumPy and Numba on the processor, PyTorch on a graphics processor."""
