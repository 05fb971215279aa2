"""Work of a graphics processor that is recorded once and then played back as a whole.

Handing over one small step takes a program longer than the processor needs for it; what was
recorded is handed over at once (CUDA graphs).
"""

from __future__ import annotations

from collections.abc import Callable

from superpac.device.choice import graphics_processors

WARM_UP = 3
"""Times that work is done before it is recorded: libraries take memory when first used."""


def recorded(work: Callable[[], None]) -> Callable[[], None] | None:
    """Record what a function hands to a graphics processor.

    Parameters
    ----------
    work : callable
        Reads and writes tensors that stay where they are, always with the same steps, and asks for
        no number. It is called a few times meanwhile, so what it writes is changed.

    Returns
    -------
    callable or None
        Does the same to the same tensors; None where it cannot be recorded.

    Examples
    --------
    Without a graphics processor nothing is recorded.

    >>> recorded(lambda: None) is None or graphics_processors() > 0
    True
    """
    if graphics_processors() == 0:
        return None
    import torch

    try:
        beside = torch.cuda.Stream()
        beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(beside):
            for _ in range(WARM_UP):
                work()
        torch.cuda.current_stream().wait_stream(beside)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        # what other threads do meanwhile is no part of it
        with torch.cuda.graph(graph, stream=beside, capture_error_mode="thread_local"):
            work()
        torch.cuda.synchronize()
    except RuntimeError:  # a library that does what no recording can hold
        torch.cuda.synchronize()
        return None
    replay: Callable[[], None] = graph.replay
    return replay
