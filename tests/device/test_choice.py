"""Which device computes, and the sentence where one cannot."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import pytest

import superpac.device.choice as module
from graphics import torch_device
from superpac.device.choice import HOST, choose_device
from superpac.errors import InputError
from superpac.system.optional import MissingLibraryError


@pytest.fixture
def no_driver(monkeypatch):
    """Run as on a machine without a graphics processor."""
    monkeypatch.delenv(module.SETTING, raising=False)
    monkeypatch.setattr(module, "graphics_processors", lambda: 0)
    module._usable.cache_clear()
    yield
    module._usable.cache_clear()


def test_auto_is_the_processor_where_there_is_nothing_else(no_driver):
    assert choose_device("auto") is HOST
    assert choose_device("cpu") is HOST


def test_cuda_without_a_graphics_processor_is_refused(no_driver):
    torch_device()
    with pytest.raises(InputError, match="graphics processor.*take auto or cpu"):
        choose_device("cuda")


def test_cuda_without_pytorch_says_how_to_get_it(no_driver, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingLibraryError, match=r'pip install "superpac\[gpu\]"'):
        choose_device("cuda")


@pytest.mark.parametrize("name", ["gpu", "", "CUDA", "cuda:0"])
def test_another_name_is_refused(name):
    with pytest.raises(InputError, match=f"auto, cpu, cuda. Got '{name}'"):
        choose_device(name)


def test_auto_is_what_the_environment_says(no_driver, monkeypatch):
    monkeypatch.setenv(module.SETTING, "cpu")
    assert choose_device("auto") is HOST
    monkeypatch.setenv(module.SETTING, "tpu")
    with pytest.raises(InputError, match="SUPERPAC_DEVICE must be one of auto, cpu, cuda"):
        choose_device("auto")
    assert choose_device("cpu") is HOST  # what is named in the call counts


def test_few_points_stay_on_the_processor(monkeypatch):
    monkeypatch.delenv(module.SETTING, raising=False)
    monkeypatch.setattr(module, "_usable", lambda: True)
    monkeypatch.setattr(module, "_cuda", torch_device)
    assert choose_device("auto", module.WORTH_FROM - 1) is HOST
    assert choose_device("auto", module.WORTH_FROM).name == "torch"


def test_too_little_memory_is_told_before_the_work():
    with pytest.raises(InputError, match="Neighbours needs about .* GB on the device cpu"):
        HOST.check_room(1e18, "Neighbours")
    HOST.check_room(1.0, "Neighbours")


def test_there_is_one_processor_however_it_is_passed_on():
    assert copy.deepcopy(HOST) is HOST
    assert pickle.loads(pickle.dumps(HOST)) is HOST  # noqa: S301 - made here


def test_pytorch_is_not_loaded_without_a_graphics_processor():
    code = (
        "import sys; from superpac.device.choice import choose_device, graphics_processors\n"
        "choose_device('auto')\n"
        "print('torch' in sys.modules and not graphics_processors())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
