"""A real Dask cluster of four processes: the same results as here, whoever dies on the way."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from command_line import superpac
from superpac.affinity import SSCOMP, TSC, EnSC
from superpac.affinity._kernels import ensc, top_k
from superpac.affinity.lrr import LRR
from superpac.data.synthetic import make_subspaces
from superpac.errors import InputError, SuperpacError
from superpac.system import cluster as module
from superpac.system.cluster import Cluster
from superpac.system.row_blocks import blocks_of

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.slow

X, Y = make_subspaces(150, 3, 3, 15, noise=0.1, seed=0)


@pytest.fixture(scope="module")
def workers(tmp_path_factory):
    with distributed.LocalCluster(
        n_workers=4,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        local_directory=str(tmp_path_factory.mktemp("dask")),
    ) as found:
        yield found


@pytest.fixture
def address(workers):
    return workers.scheduler_address


@pytest.mark.parametrize(
    "make",
    [
        lambda: TSC(3, q=5, search="exact", n_jobs=1),
        lambda: TSC(3, q=5, search="approximate", n_jobs=1),
        lambda: SSCOMP(3, n_nonzero=4, n_jobs=1),
        lambda: EnSC(3, gamma=10.0, n_jobs=1),
    ],
    ids=["tsc", "tsc-approximate", "ssc-omp", "ensc"],
)
def test_an_affinity_is_the_same_on_a_cluster(make, address, monkeypatch):
    if "approximate" in str(make().get_params().get("search")):
        pytest.importorskip("faiss")
    monkeypatch.setattr(top_k, "TILE_ROWS", 100)  # several blocks, here and there
    monkeypatch.setattr(ensc, "_BLOCK", 100)
    seen = []
    with Cluster(address) as there:
        far = make().affinity(
            X, where=there, progress=lambda done, total: seen.append(done / total)
        )
    near = make().affinity(X)
    assert (far != near).nnz == 0
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def _slow_sum(values, folder, start, stop):
    """Sum some rows; says who is at it, and takes its time."""
    (Path(folder) / f"{start}-{os.getpid()}").touch()
    time.sleep(0.3)
    return values[start:stop].sum()


def test_killing_one_of_four_in_the_middle_changes_nothing(address, tmp_path):
    values = np.arange(4000.0)
    blocks = blocks_of(4000, 200)
    with Cluster(address) as there:
        found = there.each(_slow_sum, (values, str(tmp_path)), blocks)
        sums = [next(found)]
        busy = {int(path.name.partition("-")[2]) for path in tmp_path.iterdir()}
        os.kill(min(busy), signal.SIGKILL)
        sums += found
    assert sums == [values[block.start : block.stop].sum() for block in blocks]
    twice = [path.name.partition("-")[0] for path in tmp_path.iterdir()]
    assert len(twice) > len(set(twice)), "nothing was under way in the worker that died"


def test_an_affinity_is_the_same_though_a_worker_dies_half_way(address, monkeypatch):
    monkeypatch.setattr(top_k, "TILE_ROWS", 20)
    method = TSC(3, q=5, search="exact", n_jobs=1)
    killed = []
    with Cluster(address) as there:
        pids = there._client.run(os.getpid).values()

        def kill_one(done, total):
            if not killed:
                killed.append(min(pids))
                os.kill(killed[0], signal.SIGKILL)

        far = method.affinity(X, where=there, progress=kill_one)
    assert killed
    assert (far != method.affinity(X)).nnz == 0


def test_data_whose_every_holder_died_are_placed_again(address, tmp_path):
    values = np.arange(400.0)
    blocks = blocks_of(400, 20)
    with Cluster(address) as there:
        found = there.each(_slow_sum, (values, str(tmp_path)), blocks)
        sums = [next(found)]
        for pid in there._client.run(os.getpid).values():
            os.kill(pid, signal.SIGKILL)
        sums += found
    assert sums == [values[block.start : block.stop].sum() for block in blocks]


def _fails(start, stop):
    raise ValueError("no such luck")


def test_work_that_fails_is_one_sentence(address):
    with (
        Cluster(address) as there,
        pytest.raises(SuperpacError, match="could not do a part of the work"),
    ):
        list(there.each(_fails, (), blocks_of(4, 2)))


def test_a_wrong_address_is_said_before_any_data_are_read(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "ANSWER_S", 1)
    for command in ("cluster", "label", "new", "simulate"):
        given = [command, str(tmp_path / "missing.npy"), "-k", "3", "--dask", "tcp://127.0.0.1:9"]
        done = superpac(*given, check=False)
        assert done.returncode != 0
        assert "No Dask scheduler answers" in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("address", ["", "banana", "-1", "tcp://", "tcp://127.0.0.1:1", "x" * 300])
def test_a_wrong_address_leaves_no_thread_behind(address):
    before = threading.active_count()
    with pytest.raises(InputError, match="No Dask scheduler answers"):
        Cluster(address)
    assert threading.active_count() == before


def test_a_scheduler_without_workers_is_said(monkeypatch):
    monkeypatch.setattr(module, "ANSWER_S", 1)
    with (
        distributed.LocalCluster(
            n_workers=0, processes=False, protocol="tcp", dashboard_address=":0"
        ) as empty,
        pytest.raises(InputError, match="has no workers"),
    ):
        Cluster(empty.scheduler_address)


def test_a_method_that_cannot_be_shared_says_so(address):
    with Cluster(address) as there, pytest.raises(InputError, match="choose tsc"):
        LRR(3).affinity(X, where=there)


def test_commands_give_the_same_with_a_cluster(address, tmp_path, monkeypatch):
    np.savez(tmp_path / "points.npz", X=X, y=Y)

    def run(*given):
        kept = tmp_path / ("far" if "--dask" in given else "near")
        monkeypatch.setenv("SUPERPAC_CACHE", str(kept))
        return superpac(*given).stdout

    data = str(tmp_path / "points.npz")
    clustered = ("cluster", data, "-k", "3", "-a", "tsc:q=5", "-o", "-")
    assert run(*clustered, "--dask", address) == run(*clustered)
    tried = ("simulate", data, "-q", "5", "-a", "tsc:q=5", "--trials", "3", "--json", "--jobs", "1")
    far, near = (json.loads(run(*tried, *more)) for more in (("--dask", address), ()))
    assert [t["curve"] for t in far["trials"]] == [t["curve"] for t in near["trials"]]
    store = str(tmp_path / "store.sqlite3")
    begin = ("new", data, "-k", "3", "-a", "tsc:q=5", "--store", store, "--name", "one")
    assert "is ready" in run(*begin, "--dask", address)
    assert list((tmp_path / "far").rglob("*"))
