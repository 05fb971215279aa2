"""What is recorded for a graphics processor, with the driver's part played here."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

import pytest

import superpac.device.recording as module
from graphics import torch_device


class Driver:
    """PyTorch's recording, which holds what is called in between or refuses to."""

    def __init__(self, refuses: bool) -> None:
        self.refuses, self.work, self.replayed = refuses, [], 0

    def Stream(self):  # noqa: N802 - PyTorch's name
        return SimpleNamespace(wait_stream=lambda other: None)

    current_stream = Stream

    def stream(self, stream):
        return nullcontext()

    def synchronize(self):
        pass

    def CUDAGraph(self):  # noqa: N802 - PyTorch's name
        return SimpleNamespace(replay=self._replay)

    def _replay(self):
        self.replayed += 1

    @contextmanager
    def graph(self, graph, **options):
        yield
        if self.refuses:
            raise RuntimeError("operation not permitted when stream is capturing")


@pytest.mark.parametrize("refuses", [False, True])
def test_what_cannot_be_recorded_is_left_to_be_done_step_by_step(monkeypatch, refuses):
    torch_device()
    import torch

    driver, done = Driver(refuses), []
    for name in ("Stream", "current_stream", "stream", "synchronize", "CUDAGraph", "graph"):
        monkeypatch.setattr(torch.cuda, name, getattr(driver, name))
    monkeypatch.setattr(module, "graphics_processors", lambda: 1)
    play = module.recorded(lambda: done.append(1))
    assert len(done) == module.WARM_UP + 1
    assert (play is None) == refuses
    if play is not None:
        play()
        assert driver.replayed == 1


def test_nothing_is_recorded_without_a_graphics_processor(monkeypatch):
    monkeypatch.setattr(module, "graphics_processors", lambda: 0)
    assert module.recorded(lambda: pytest.fail("nothing is to be done")) is None
