"""Many small elastic nets at once, each from the Gram matrix of its atoms.

As :mod:`superpac.affinity._kernels.elastic_net`, for a batch: coordinate descent finds the signs,
Newton steps go to the minimum for these signs, and nets that are solved leave the batch.
"""

from __future__ import annotations

import torch
from torch import Tensor

from superpac.affinity._kernels import torch_groups

_SWEEPS = 6  # of coordinate descent between Newton steps
_COMPILED_SWEEPS = 48  # where they are one program, and cost next to nothing
_NEWTON = 3
_ROUNDS = 200


def elastic_nets(
    Q: Tensor, q: Tensor, c: Tensor, gamma: Tensor, bound: Tensor, tau: float
) -> Tensor:
    """Minimise tau |c|_1 + (1-tau)/2 |c|^2 + gamma/2 (c'Qc - 2 q'c) for each net from `c` on.

    Parameters
    ----------
    Q, q, c : Tensor of shape (nets, m, m), (nets, m), (nets, m)
        Gram matrices, products of the atoms with the points, and what to begin with.
    gamma, bound : Tensor of shape (nets,)
        Weight of the fit, and how far the optimality conditions may be from holding.
    tau : float
        Share of the l1 norm.

    Returns
    -------
    Tensor of shape (nets, m)
        Coefficients.
    """
    ridge = 1.0 - tau
    found = c.clone()
    live = torch.arange(len(c), device=c.device)
    kernels = torch_groups.compiled() if c.is_cuda else None
    c = c.clone()
    for _ in range(_ROUNDS):
        b = slopes(Q, q, c, gamma)
        if kernels is not None:
            kernels.descend(Q, b, c, gamma, bound, tau, ridge, _COMPILED_SWEEPS)
        else:
            for _ in range(_SWEEPS):
                _sweep(Q, b, c, gamma, tau, ridge)
        b = slopes(Q, q, c, gamma)  # anew: what was added up step by step has drifted
        open_ = breach(b, c, tau, ridge) > bound
        found[live] = c
        if not bool(open_.any()):
            return found
        if not bool(open_.all()):
            live = live[open_]
            Q, q, c, gamma, bound = Q[open_], q[open_], c[open_], gamma[open_], bound[open_]
            b = b[open_]
        for _ in range(_NEWTON):
            c = _newton(Q, b, c, gamma, tau, ridge)
            b = slopes(Q, q, c, gamma)
    found[live] = c
    return found


def slopes(Q: Tensor, q: Tensor, c: Tensor, gamma: Tensor) -> Tensor:
    """Gamma (q - Q c) of each net."""
    return gamma[:, None] * (q - _times(Q, c))


def breach(b: Tensor, c: Tensor, tau: float, ridge: float) -> Tensor:
    """How far the optimality conditions of each net are from holding."""
    active = (b - tau * c.sign() - ridge * c).abs()
    return torch.where(c != 0, active, b.abs() - tau).amax(1)


def _times(Q: Tensor, c: Tensor) -> Tensor:
    return torch.bmm(Q, c[:, :, None])[:, :, 0]


def _sweep(Q: Tensor, b: Tensor, c: Tensor, gamma: Tensor, tau: float, ridge: float) -> None:
    """One sweep of coordinate descent; `b` stays gamma (q - Q c)."""
    for i in range(c.shape[1]):
        old = c[:, i]
        curvature = gamma * Q[:, i, i]
        z = b[:, i] + curvature * old
        size = (z.abs() - tau).clamp(min=0) / (curvature + ridge).clamp(min=1e-30)
        new = torch.copysign(size, z)
        b -= (gamma * (new - old))[:, None] * Q[:, i]
        c[:, i] = new


def _newton(Q: Tensor, b: Tensor, c: Tensor, gamma: Tensor, tau: float, ridge: float) -> Tensor:
    """Step to the minimum for the present signs; a coefficient that would change its sign stops."""
    on = (c != 0).to(c.dtype)
    H = gamma[:, None, None] * Q * on[:, :, None] * on[:, None, :]
    # a little more on the diagonal than the ridge: copies of an atom leave nothing else there
    small = 4 * torch.finfo(c.dtype).eps * gamma
    H.diagonal(dim1=1, dim2=2).add_((ridge + small)[:, None] * on + (1 - on))
    L, failed = torch.linalg.cholesky_ex(H)
    rhs = (b - tau * c.sign() - ridge * c) * on
    step = torch.cholesky_solve(rhs[:, :, None], L)[:, :, 0] * on
    good = (failed == 0) & step.isfinite().all(1)
    step = torch.where(good[:, None], step, 0.0)
    crosses = (on > 0) & (step != 0) & ((c + step) * c <= 0)
    stopped = torch.where(crosses, -c, step)
    # where stopping all of them at zero does not lower the objective, stopping at the first does
    shares = torch.where(crosses, -c / torch.where(crosses, step, 1.0), 1.0)
    length = shares.amin(1, keepdim=True)
    first = torch.where(crosses & (shares <= length), -c, length * step)
    worse = crosses.any(1) & (_change(Q, b, c, stopped, gamma, tau, ridge) > 0)
    return c + torch.where(worse[:, None], first, stopped)


def _change(
    Q: Tensor, b: Tensor, c: Tensor, move: Tensor, gamma: Tensor, tau: float, ridge: float
) -> Tensor:
    """By how much a move changes each objective."""
    new = c + move
    penalty = tau * (new.abs() - c.abs()) + 0.5 * ridge * (new * new - c * c)
    fit = move * (b - 0.5 * gamma[:, None] * _times(Q, move))
    return (penalty - fit).sum(1)
