"""The balance between views, learned from the answers so far.

Each view gives a score for every set; the posterior is the softmax of their weighted sum. Weights
are fitted to the points that answers have placed, each scored as if its own answer were not known
(stacking, Wolpert, "Stacked generalization", Neural Networks 5, 1992).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from superpac.array_types import FloatArray

LEAST = 0.02
STEPS = 12


def fit_weights(
    observed: Sequence[tuple[FloatArray, int]], prior: FloatArray, *, strength: float = 3.0
) -> FloatArray:
    """Weights of the views that make the known sets likeliest.

    Newton's method on the multinomial likelihood with a Gaussian prior about `prior`.

    Parameters
    ----------
    observed : sequence of (ndarray of shape (S, V), int)
        For each placed point the scores of the sets there were by `V` views, and the set it is in.
    prior : ndarray of shape (V,)
        Weights before any answer; positive.
    strength : float, default=3
        Weight of the prior, in answers about.

    Returns
    -------
    ndarray of shape (V,)
        Weights of at least 0.02.

    Examples
    --------
    >>> import numpy as np
    >>> views = np.stack([np.eye(2), np.zeros((2, 2))], axis=2)
    >>> w = fit_weights([(views[0], 0), (views[1], 1)] * 20, np.ones(2))
    >>> bool(w[0] > 1.5), float(w[1].round(3))
    (True, 1.0)
    """
    weights = prior.copy()
    if not observed:
        return weights
    pull = strength / prior**2
    widest = max(scores.shape[0] for scores, _ in observed)
    stack = np.full((len(observed), widest, prior.size), 0.0)
    absent = np.ones((len(observed), widest), dtype=np.bool_)
    for m, (scores, _) in enumerate(observed):
        stack[m, : scores.shape[0]] = scores
        absent[m, : scores.shape[0]] = False
    truth = np.array([k for _, k in observed])
    chosen = stack[np.arange(truth.size), truth]
    for _ in range(STEPS):
        logits = stack @ weights
        logits[absent] = -np.inf
        P = np.exp(logits - logits.max(axis=1, keepdims=True))
        P /= P.sum(axis=1, keepdims=True)
        mean = np.einsum("ms,msv->mv", P, stack)
        gradient = (chosen - mean).sum(axis=0) - pull * (weights - prior)
        spread = np.einsum("ms,msv,msw->vw", P, stack, stack, optimize=True) - mean.T @ mean
        step = np.linalg.solve(spread + np.diag(pull), gradient)
        weights = np.maximum(weights + np.clip(step, -1.0, 1.0), LEAST)
        if np.abs(step).max() < 1e-3:
            break
    return weights
