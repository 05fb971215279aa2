"""A given affinity: what is accepted, how it is put right, and how it is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from superpac.affinity import Precomputed, make_affinity
from superpac.errors import InputError


@pytest.fixture
def blocks() -> np.ndarray:
    return np.kron(np.eye(2), np.ones((4, 4))) + 0.01


def as_files(A: np.ndarray, folder: Path) -> dict[str, Path]:
    np.save(folder / "dense.npy", A)
    np.savez(folder / "dense.npz", A)
    np.savez(folder / "named.npz", affinity=A, y=np.zeros(3))
    sparse.save_npz(folder / "sparse.npz", sparse.csr_array(A))
    sparse.save_npz(folder / "coo.npz", sparse.coo_matrix(A))
    return {p.name: p for p in folder.iterdir()}


def test_every_form_gives_the_same(blocks: np.ndarray, tmp_path: Path) -> None:
    expected = blocks - np.diag(np.diag(blocks))
    points = np.zeros((8, 2))
    forms = [blocks, blocks.tolist(), sparse.csr_matrix(blocks), sparse.coo_array(blocks)]
    forms += [str(p) for p in as_files(blocks, tmp_path).values()]
    assert len(forms) == 9
    for form in forms:
        A = make_affinity(form, 2).affinity(points)
        assert isinstance(A, sparse.csr_array)
        np.testing.assert_array_equal(A.toarray(), expected)


def test_without_a_matrix_the_input_is_the_affinity(blocks: np.ndarray) -> None:
    labels = Precomputed(2, random_state=0).fit(blocks).labels_
    assert labels[0] == labels[3] != labels[4] == labels[7]
    again = Precomputed(2, random_state=0).fit(sparse.csr_matrix(blocks)).labels_
    np.testing.assert_array_equal(labels, again)


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (np.ones((2, 3)), "square"),
        (np.ones((1, 1)), "Got 1 rows"),
        ([[0.0, -1.0], [-1.0, 0.0]], "non-negative"),
        ([[0.0, 1.0], [2.0, 0.0]], "symmetric"),
        ("nowhere.npz", "does not exist"),
    ],
)
def test_refuses_in_one_sentence(matrix: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Precomputed(1, matrix=matrix).affinity(np.zeros((2, 2)))


def test_tolerance_is_a_parameter() -> None:
    A = np.array([[0.0, 1.0], [1.01, 0.0]])
    assert Precomputed(1, matrix=A, tol=0.1).affinity(np.zeros((2, 1)))[0, 1] == 1.005
    with pytest.raises(InputError, match="'tol' parameter of Precomputed must be a number in"):
        Precomputed(1, matrix=A, tol=2).affinity(np.zeros((2, 1)))


def test_refuses_another_number_of_points(blocks: np.ndarray) -> None:
    with pytest.raises(InputError, match=r"each of the 5 points. Got 8 rows"):
        Precomputed(2, matrix=blocks).affinity(np.zeros((5, 2)))


def test_broken_and_unclear_files(tmp_path: Path) -> None:
    (tmp_path / "text.npy").write_text("not an array")
    (tmp_path / "cut.npz").write_bytes(b"PK\x03\x04 cut")
    (tmp_path / "empty.npy").write_bytes(b"")
    np.savez(tmp_path / "two.npz", first=np.eye(2), second=np.eye(2))
    np.save(tmp_path / "pickled.npy", np.array([{}, {}], dtype=object))
    for name in ("text.npy", "cut.npz", "empty.npy", "pickled.npy"):
        with pytest.raises(InputError, match="could not be read|never unpickled"):
            Precomputed(1, matrix=tmp_path / name).affinity(np.zeros((2, 1)))
    with pytest.raises(InputError, match=r"Got first, second instead"):
        Precomputed(1, matrix=str(tmp_path / "two.npz")).affinity(np.zeros((2, 1)))
