"""Elastic net of every point on all others, on a graphics processor: active sets, block by block.

As :mod:`superpac.affinity._kernels.ensc`: the problem over a few atoms is solved, all points are
compared with its delta = gamma_j (x_j - X'c), and those that violate |<x_i, delta>| <= tau join the
atoms. All points of a block go through this together, and those without a violator are done.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from scipy import sparse
from torch import Tensor

from superpac.affinity._kernels.torch_graph import csr
from superpac.affinity._kernels.torch_net import elastic_nets
from superpac.affinity._kernels.torch_search import UPLOAD, Search, by_blocks
from superpac.system.progress import Progress, no_progress

_FIRST, _MORE = 64, 32  # atoms to start from, atoms added at a time
_NARROWEST = 16
_TOGETHER = 65536  # points that go through this together: many small nets fill a device
_ROUNDS = 200
SINGLE_TOL = 5e-4  # the least tolerance that single precision is asked for


def ensc_rows(
    search: Search, gamma: float, tau: float, *, tol: float, progress: Progress = no_progress
) -> sparse.csr_array:
    """Elastic-net coefficients of points on a device; row j expresses point j.

    In single precision the conditions hold within ``SINGLE_TOL * tau`` where `tol` is smaller.
    """
    if search.precision != torch.float64:
        tol = max(tol, SINGLE_TOL)
    nets = _Nets(search, gamma, tau, tol)
    found = by_blocks(search, nets.block, progress, _TOGETHER)
    rows, columns, values = (torch.cat(each) for each in zip(*found, strict=True))
    return csr(rows, columns, values, search.n)


@dataclass
class _Nets:
    """The elastic nets of some points, and what they have in common."""

    search: Search
    gamma: float
    tau: float
    tol: float

    def block(self, index: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Coefficients of some points: rows, columns and values."""
        search = self.search
        begun = [self._begun(part) for part in index.split(search.size)]
        gammas, atoms = (torch.cat(each) for each in zip(*begun, strict=True))
        coefs = torch.zeros(atoms.shape, dtype=search.precision, device=atoms.device)
        done: list[tuple[Tensor, Tensor, Tensor]] = []
        keep = gammas > 0
        for _ in range(_ROUNDS):
            index, gammas, atoms, coefs = (each[keep] for each in (index, gammas, atoms, coefs))
            if index.numel() == 0:
                break
            atoms, coefs, deltas = self._solved(index, gammas, atoms, coefs)
            split = (each.split(search.size) for each in (index, atoms, deltas))
            more = torch.cat([self._violators(*part) for part in zip(*split, strict=True)])
            keep = more[:, 0] >= 0
            done.append(_listed(index[~keep], atoms[~keep], coefs[~keep]))
            atoms = torch.cat([atoms, more], 1)
            coefs = torch.nn.functional.pad(coefs, (0, more.shape[1]))
        else:  # rounding keeps a few from settling: they are as good as it lets them be
            done.append(_listed(index[keep], atoms[keep], coefs[keep]))
        if not done:
            return index, index, coefs.flatten()
        rows, columns, values = (torch.cat(each) for each in zip(*done, strict=True))
        return rows, columns, values

    def _begun(self, index: Tensor) -> tuple[Tensor, Tensor]:
        """Weight of the fit of some points, and the atoms to begin with."""
        seen = self.search.look(self.search.taken(index), index[:, None])
        most = seen.best(1)[1][:, 0]
        alone = most <= 0
        gammas = torch.where(alone, 0.0, self.gamma * self.tau / torch.where(alone, 1.0, most))
        return gammas, seen.candidates(min(_FIRST, self.search.n))

    def _violators(self, index: Tensor, atoms: Tensor, deltas: Tensor) -> Tensor:
        """Points that should join the atoms of some points; -1 where no more is."""
        own = index[:, None]
        others = torch.cat([own, torch.where(atoms >= 0, atoms, own)], 1)
        bar = torch.full_like(deltas[:, 0], self.tau * (1 + self.tol))
        return self.search.look(deltas, others).above(bar, _MORE)

    def _solved(
        self, index: Tensor, gammas: Tensor, atoms: Tensor, coefs: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Atoms with coefficients (-1: none), these, and delta of each point."""
        search = self.search
        used = atoms >= 0
        order = (~used).to(torch.int8).sort(dim=1, stable=True).indices
        atoms, coefs = atoms.gather(1, order), coefs.gather(1, order)
        sizes = used.sum(1)
        deltas = torch.empty((len(index), search.d), dtype=search.precision, device=index.device)
        for part, width in self._alike(sizes):
            width = min(width, atoms.shape[1])
            deltas[part], coefs[part, :width] = self._nets(
                index[part], gammas[part], atoms[part, :width], coefs[part, :width]
            )
        order = (coefs == 0).to(torch.int8).sort(dim=1, stable=True).indices
        filled = int((coefs != 0).sum(1).amax())
        atoms, coefs = atoms.gather(1, order)[:, :filled], coefs.gather(1, order)[:, :filled]
        return torch.where(coefs != 0, atoms, -1), coefs, deltas

    def _alike(self, sizes: Tensor) -> Iterator[tuple[Tensor, int]]:
        """Points with about as many atoms, as many as there is room for, and that number."""
        search, low, width, most = self.search, -1, _NARROWEST, int(sizes.amax())
        while low < most:
            alike = ((sizes > low) & (sizes <= width)).nonzero()[:, 0]
            each = width * (2 * self.search.d + 5 * width) * search.precision.itemsize
            for part in alike.split(max(1, 8 * search.piece // each)):
                if part.numel():
                    yield part, width
            low, width = width, 2 * width

    def _nets(
        self, index: Tensor, gammas: Tensor, atoms: Tensor, coefs: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Delta and coefficients of points with equally many atoms."""
        search = self.search
        wide = 1 << max(0, atoms.shape[1] - 1).bit_length()  # the compiled kernel's powers of two
        atoms = torch.nn.functional.pad(atoms, (0, wide - atoms.shape[1]), value=-1)
        start = torch.nn.functional.pad(coefs, (0, wide - coefs.shape[1]))
        x = search.taken(index)
        A = search.taken(atoms.clamp(min=0)) * (atoms >= 0)[:, :, None]
        Q = torch.bmm(A, A.transpose(1, 2))
        q = torch.bmm(A, x[:, :, None])[:, :, 0]
        finest = 16 * search.eps * gammas
        bound = finest.clamp(min=0.1 * self.tol * self.tau)
        c = elastic_nets(Q, q, start, gammas, bound, self.tau)
        rest = x - torch.bmm(c[:, None, :], A)[:, 0]
        return gammas[:, None] * rest, c[:, : coefs.shape[1]]


def _listed(index: Tensor, atoms: Tensor, coefs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Rows, columns and values of the coefficients of some points."""
    used = coefs != 0
    return index[:, None].expand(atoms.shape)[used], atoms[used], coefs[used]


def conditions(
    rows: Tensor, C: sparse.csr_array, gamma: float, tau: float, sample: Tensor
) -> tuple[Tensor, Tensor]:
    """How far the optimality conditions of some points are from holding, in double precision.

    Parameters
    ----------
    rows : Tensor of shape (n, d)
        Points of length at most one.
    C : scipy.sparse.csr_array of shape (n, n)
        Coefficients.
    gamma, tau : float
        As of :class:`superpac.affinity.EnSC`.
    sample : Tensor of int
        Which points.

    Returns
    -------
    excess, stationarity : Tensor of shape (n_sample,)
        The largest ``|<x_i, delta>| - tau`` of a zero coefficient, and the largest
        ``|<x_i, delta> - tau sign(c_i) - (1 - tau) c_i|`` of another.
    """
    picked = C[sample.cpu().numpy()].toarray()
    c = torch.from_numpy(picked.T.copy()).to(rows.device)
    x = rows[sample].double()
    own = torch.arange(len(sample), device=rows.device)
    products = _products(rows, x)
    products[sample, own] = 0.0
    weights = gamma * tau / products.abs().amax(0)
    fitted = sum(
        c[start : start + UPLOAD].T @ rows[start : start + UPLOAD].double()
        for start in range(0, len(rows), UPLOAD)
    )
    b = _products(rows, weights[:, None] * (x - fitted))
    b[sample, own] = 0.0
    active = (b - tau * c.sign() - (1 - tau) * c).abs()
    excess = torch.where(c == 0, b.abs() - tau, -tau).amax(0)
    return excess, torch.where(c != 0, active, 0.0).amax(0)


def _products(rows: Tensor, vectors: Tensor) -> Tensor:
    """Products of all points with some vectors, in double precision."""
    blocks = (rows[start : start + UPLOAD].double() for start in range(0, len(rows), UPLOAD))
    return torch.cat([block @ vectors.T for block in blocks])
