"""All eigenpairs of a small symmetric matrix."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, eigh

from superpac.device.arrays import Array, is_host, namespace


def symmetric_eigenpairs(matrix: Array) -> tuple[Array, Array]:
    """Eigenvalues, smallest first, and eigenvectors.

    LAPACK's divide and conquer, the quickest way, gives up on one harmless matrix in many
    thousands; its older iteration then does not.

    Parameters
    ----------
    matrix : array of shape (n, n)
        Symmetric, of any device.

    Returns
    -------
    values : array of shape (n,)
    vectors : array of shape (n, n)

    Examples
    --------
    >>> symmetric_eigenpairs(np.diag([2.0, 1.0]))[0]
    array([1., 2.])
    """
    if not is_host(matrix):
        found = namespace(matrix).linalg.eigh(matrix)
        return found[0], found[1]
    try:
        values, vectors = np.linalg.eigh(matrix)
    except LinAlgError:
        values, vectors = eigh(matrix, driver="ev")
    return values, vectors
