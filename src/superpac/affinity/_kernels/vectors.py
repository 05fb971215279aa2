"""Compiled building blocks: inner products, Gram blocks, products, the largest of many."""
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numba import njit, prange


@njit(cache=True, fastmath=True)
def dot(a, b):
    """Inner product."""
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@njit(cache=True, fastmath=True)
def subtract(y, weight, x):
    """Y -= weight * x, in place."""
    for i in range(y.shape[0]):
        y[i] -= weight * x[i]


@njit(cache=True)
def largest(values):
    """Where the largest magnitude of float32 values is; -1 when all are zero."""
    # compared as the integers that their bits are, which order non-negative floats alike: the
    # compiler vectorises an integer maximum, not a floating-point one
    bits = values.view(np.int32)
    top = np.int32(0)
    for i in range(bits.shape[0]):
        top = max(top, bits[i] & np.int32(0x7FFFFFFF))
    if top > 0:
        for i in range(bits.shape[0]):
            if bits[i] & np.int32(0x7FFFFFFF) == top:
                return i
    return -1


@njit(cache=True, fastmath=True)
def _tile(a0, a1, a2, a3, b0, b1, b2, b3, Q, s, t):
    """Q[s:s+4, t:t+4] = inner products of four rows with four others, and their mirror image."""
    # written out: 16 sums stay in registers, so each number read serves four products
    p00 = p01 = p02 = p03 = 0.0
    p10 = p11 = p12 = p13 = 0.0
    p20 = p21 = p22 = p23 = 0.0
    p30 = p31 = p32 = p33 = 0.0
    for d in range(a0.shape[0]):
        x0, y0 = a0[d], b0[d]
        x1, y1 = a1[d], b1[d]
        x2, y2 = a2[d], b2[d]
        x3, y3 = a3[d], b3[d]
        p00 += x0 * y0
        p01 += x0 * y1
        p02 += x0 * y2
        p03 += x0 * y3
        p10 += x1 * y0
        p11 += x1 * y1
        p12 += x1 * y2
        p13 += x1 * y3
        p20 += x2 * y0
        p21 += x2 * y1
        p22 += x2 * y2
        p23 += x2 * y3
        p30 += x3 * y0
        p31 += x3 * y1
        p32 += x3 * y2
        p33 += x3 * y3
    Q[s + 0, t + 0] = Q[t + 0, s + 0] = p00
    Q[s + 0, t + 1] = Q[t + 1, s + 0] = p01
    Q[s + 0, t + 2] = Q[t + 2, s + 0] = p02
    Q[s + 0, t + 3] = Q[t + 3, s + 0] = p03
    Q[s + 1, t + 0] = Q[t + 0, s + 1] = p10
    Q[s + 1, t + 1] = Q[t + 1, s + 1] = p11
    Q[s + 1, t + 2] = Q[t + 2, s + 1] = p12
    Q[s + 1, t + 3] = Q[t + 3, s + 1] = p13
    Q[s + 2, t + 0] = Q[t + 0, s + 2] = p20
    Q[s + 2, t + 1] = Q[t + 1, s + 2] = p21
    Q[s + 2, t + 2] = Q[t + 2, s + 2] = p22
    Q[s + 2, t + 3] = Q[t + 3, s + 2] = p23
    Q[s + 3, t + 0] = Q[t + 0, s + 3] = p30
    Q[s + 3, t + 1] = Q[t + 1, s + 3] = p31
    Q[s + 3, t + 2] = Q[t + 2, s + 3] = p32
    Q[s + 3, t + 3] = Q[t + 3, s + 3] = p33


@njit(cache=True)
def gram(X, atoms, start, stop, Q):
    """Fill rows and columns `start` to `stop` of the Gram matrix of the atoms."""
    s = start
    while s + 4 <= stop:
        a0, a1, a2, a3 = X[atoms[s]], X[atoms[s + 1]], X[atoms[s + 2]], X[atoms[s + 3]]
        t = 0
        while t + 4 <= s + 4:
            _tile(
                a0, a1, a2, a3,
                X[atoms[t]], X[atoms[t + 1]], X[atoms[t + 2]], X[atoms[t + 3]], Q, s, t,
            )  # fmt: skip
            t += 4
        while t < s + 4:
            for i in range(s, s + 4):
                Q[i, t] = Q[t, i] = dot(X[atoms[i]], X[atoms[t]])
            t += 1
        s += 4
    for i in range(s, stop):
        for t in range(i + 1):
            Q[i, t] = Q[t, i] = dot(X[atoms[i]], X[atoms[t]])


@njit(cache=True, parallel=True)
def product(A, B, out, parts):
    """Fill `out` with A B, the rows shared out in `parts` parts among the threads."""
    # to be called with BLAS limited to one thread: taking turns between the threads of BLAS and
    # those of Numba, each waiting busily for work while the other has it, doubles the CPU time
    n = A.shape[0]
    for p in prange(parts):
        low, high = p * n // parts, (p + 1) * n // parts
        if high > low:
            np.dot(A[low:high], B, out[low:high])
