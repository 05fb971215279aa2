"""An elastic net over a few atoms from their Gram matrix: coordinate descent with Newton steps.

Minimises tau |c|_1 + ridge/2 |c|^2 + gamma/2 (c'Qc - 2 q'c) in place, keeping b = gamma (q - Qc) up
to date. Coordinate descent finds the signs, a Newton step over the non-zero coefficients then goes
to the minimum for these signs at once, where coordinate descent alone would crawl.
"""
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numba import njit

from superpac.affinity._kernels.vectors import dot, subtract

_SWEEPS = 6  # of coordinate descent between Newton steps
_NEWTON = 4  # Newton steps in a row while coefficients become zero on the way
_ROUNDS = 10_000


@njit(cache=True)
def violation(b, c, m, tau, ridge):
    """How far the optimality conditions of the restricted problem are from holding."""
    worst = 0.0
    for i in range(m):
        if c[i] > 0.0:
            worst = max(worst, abs(b[i] - tau - ridge * c[i]))
        elif c[i] < 0.0:
            worst = max(worst, abs(b[i] + tau - ridge * c[i]))
        else:
            worst = max(worst, abs(b[i]) - tau)
    return worst


@njit(cache=True)
def _sweep(Q, b, c, m, gamma, tau, ridge):
    """One sweep of coordinate descent; `b` stays gamma (q - Q c)."""
    for i in range(m):
        old = c[i]
        if old == 0.0 and abs(b[i]) <= tau:
            continue
        curvature = gamma * Q[i, i]
        z = b[i] + curvature * old
        new = 0.0
        if z > tau:
            new = (z - tau) / (curvature + ridge)
        elif z < -tau:
            new = (z + tau) / (curvature + ridge)
        if new != old:
            c[i] = new
            subtract(b[:m], gamma * (new - old), Q[i, :m])


@njit(cache=True)
def _move(Q, b, c, m, gamma, tau, ridge, support, n, move):
    """Add `move` to the coefficients of the support; the change of the objective."""
    change = 0.0
    for s in range(n):
        i = support[s]
        new = c[i] + move[s]
        change += tau * (abs(new) - abs(c[i])) + 0.5 * ridge * (new * new - c[i] * c[i])
        change -= 0.5 * move[s] * b[i]
        c[i] = new
    for s in range(n):
        if move[s] != 0.0:
            subtract(b[:m], gamma * move[s], Q[support[s], :m])
    for s in range(n):
        change -= 0.5 * move[s] * b[support[s]]
    return change


@njit(cache=True)
def _newton(Q, b, c, m, gamma, tau, ridge, L, support, step, move):
    """Step to the minimum for the present signs; how many became zero, -1 if it is singular."""
    n = 0
    for i in range(m):
        if c[i] != 0.0:
            support[n] = i
            n += 1
    for s in range(n):
        i = support[s]
        for t in range(s):
            L[s, t] = (gamma * Q[i, support[t]] - dot(L[s, :t], L[t, :t])) / L[t, t]
        full = gamma * Q[i, i] + ridge
        pivot = full - dot(L[s, :s], L[s, :s])
        if pivot <= 1e-13 * full:  # duplicated atoms: coordinate descent goes on alone
            return -1
        L[s, s] = np.sqrt(pivot)
        sign = 1.0 if c[i] > 0.0 else -1.0
        rhs = b[i] - tau * sign - ridge * c[i]
        step[s] = (rhs - dot(L[s, :s], step[:s])) / L[s, s]
    for s in range(n - 1, -1, -1):
        step[s] /= L[s, s]
        subtract(step[:s], step[s], L[s, :s])
    # a coefficient that would change sign stops at zero
    crossing = 0
    length = 1.0
    for s in range(n):
        old = c[support[s]]
        move[s] = step[s]
        if (old + step[s]) * old <= 0.0:
            length = min(length, -old / step[s])
            move[s] = -old
            crossing += 1
    change = _move(Q, b, c, m, gamma, tau, ridge, support, n, move)
    if crossing > 0 and change > 0.0:
        # stopping all of them at zero did not lower the objective; stopping at the first one does
        for s in range(n):
            move[s] = -move[s]
        _move(Q, b, c, m, gamma, tau, ridge, support, n, move)
        crossing = 0
        for s in range(n):
            old = c[support[s]]
            move[s] = length * step[s]
            if abs(old + move[s]) <= 1e-14 * abs(old):
                move[s] = -old
                crossing += 1
        _move(Q, b, c, m, gamma, tau, ridge, support, n, move)
    return crossing


@njit(cache=True)
def elastic_net(Q, b, c, m, gamma, tau, ridge, tol, L, support, step, move):
    """Elastic net over `m` atoms from the Gram matrix `Q` of the atoms, in place."""
    for _ in range(_ROUNDS):
        for _ in range(_SWEEPS):
            _sweep(Q, b, c, m, gamma, tau, ridge)
        if violation(b, c, m, tau, ridge) <= tol:
            return
        for _ in range(_NEWTON):
            if _newton(Q, b, c, m, gamma, tau, ridge, L, support, step, move) <= 0:
                break
        if violation(b, c, m, tau, ridge) <= tol:
            return
