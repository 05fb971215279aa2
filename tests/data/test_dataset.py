from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image

from superpac.data import Dataset, load
from superpac.data.sound_files import Sound, as_wav
from superpac.errors import DataError, InputError

DIGITS = load("digits")


def toy(**facts) -> Dataset:
    X = np.arange(24, dtype=np.uint8).reshape(8, 3)
    return Dataset(X, **{"y": [3, 3, 3, 5, 5, 5, 9, 9], "name": "toy", **facts})


def test_storage_type_stays_and_points_are_a_fresh_float_copy():
    data = toy()
    assert data.X.dtype == np.uint8
    points = data.points()
    assert points.dtype == np.float64
    points[:] = -1
    assert data.X[0, 0] == 0
    with pytest.raises(ValueError):
        data.X[0, 0] = 7


def test_float64_points_are_a_copy_too():
    data = Dataset(np.ones((3, 2)))
    data.points()[:] = 5
    assert (data.X == 1).all()


def test_labels_become_zero_based_with_their_names():
    data = toy()
    assert data.y.tolist() == [0, 0, 0, 1, 1, 1, 2, 2]
    assert data.class_names == ("3", "5", "9")
    assert data.n_classes == 3


def test_fingerprint_sees_one_byte_the_order_the_type_and_the_ids():
    X = np.arange(12, dtype=np.uint8).reshape(4, 3)
    base = Dataset(X)
    changed = X.copy()
    changed[2, 1] ^= 1
    others = [
        Dataset(changed),
        Dataset(X[[1, 0, 2, 3]], ids=["1", "0", "2", "3"]),
        Dataset(X[[1, 0, 2, 3]]),
        Dataset(X.astype(np.uint16)),
        Dataset(X.reshape(3, 4)),
        Dataset(X, ids=["a", "b", "c", "d"]),
        Dataset(X, ids=["a", "b", "d", "c"]),
    ]
    prints = [base.fingerprint, *(d.fingerprint for d in others)]
    assert len(set(prints)) == len(prints)
    assert all(len(p) == 64 for p in prints)
    assert Dataset(X.copy(), y=[0, 1, 0, 1], name="other").fingerprint == base.fingerprint


def test_fingerprint_does_not_depend_on_byte_order_in_memory():
    X = np.array([[1.5, 2.0], [3.0, 4.0]])
    assert Dataset(X.astype(">f8")).fingerprint == Dataset(X.astype("<f8")).fingerprint
    assert Dataset(np.asfortranarray(X)).fingerprint == Dataset(X).fingerprint


def test_subset_takes_everything_along():
    data = toy(ids=list("abcdefgh"), extras={"bad": np.arange(8) % 2 == 0}, shown=np.ones((8, 3)))
    part = data.subset([6, 1])
    assert part.ids.tolist() == ["g", "b"]
    assert part.X.tolist() == [[18, 19, 20], [3, 4, 5]]
    assert part.y.tolist() == [2, 0]
    assert part.extras["bad"].tolist() == [True, False]
    assert part.shown.shape == (2, 3)
    assert data.subset(data.y == 2).ids.tolist() == ["g", "h"]


@pytest.mark.parametrize("indices", [[], [8], [-1], [[0, 1]], [0.5], [True, False]])
def test_subset_refuses_what_is_not_rows(indices):
    with pytest.raises(InputError):
        toy().subset(indices)


def test_subset_refuses_repeated_rows():
    with pytest.raises(DataError, match="distinct"):
        toy().subset([1, 1])


def test_shuffled_is_a_seeded_permutation():
    data = load("digits")
    a, b, c = data.shuffled(1), data.shuffled(1), data.shuffled(2)
    assert a.fingerprint == b.fingerprint != c.fingerprint
    assert sorted(a.ids.tolist()) == sorted(data.ids.tolist())
    back = a.subset(np.argsort(a.ids.astype(int)))
    assert back.fingerprint == data.fingerprint
    assert (back.y == data.y).all()


@settings(max_examples=50)
@given(
    n_classes=st.integers(1, 10),
    per_class=st.one_of(st.none(), st.integers(1, 174)),
    seed=st.integers(0, 2**32),
)
def test_sample_classes_is_balanced_relabelled_and_true(n_classes, per_class, seed):
    data = DIGITS
    part = data.sample_classes(n_classes, per_class, seed)
    counts = np.bincount(part.y)
    assert len(counts) == n_classes == len(part.class_names)
    if per_class is not None:
        assert (counts == per_class).all()
    rows = part.ids.astype(int)
    assert (data.X[rows] == part.X).all()
    assert [part.class_names[k] for k in part.y] == [str(d) for d in data.y[rows]]


def test_sample_classes_differs_by_seed_and_mixes_rows():
    data = load("digits")
    a, b = data.sample_classes(5, 40, 0), data.sample_classes(5, 40, 1)
    assert a.fingerprint == data.sample_classes(5, 40, 0).fingerprint != b.fingerprint
    assert (np.diff(a.y) != 0).sum() > 50


def test_sample_classes_says_what_is_possible():
    data = toy()
    with pytest.raises(InputError, match="1 to 3"):
        data.sample_classes(4, None, 0)
    with pytest.raises(InputError, match="'9' has 2 points"):
        data.sample_classes(3, 3, 0)
    with pytest.raises(InputError, match="no true classes"):
        Dataset(np.eye(3)).sample_classes(2, 1, 0)


def test_standardised_columns_and_original_values_shown():
    X = np.array([[1.0, 7.0, 1e300], [3.0, 7.0, -1e300], [8.0, 7.0, 0.0]])
    data = load(X, standardise=True)
    assert np.allclose(data.X.mean(axis=0), 0)
    assert np.allclose(data.X[:, [0, 2]].std(axis=0), 1)
    assert (data.X[:, 1] == 0).all()
    assert data.describe(0)[0] == ("0", "1")
    assert data.fingerprint != load(X).fingerprint


@given(hnp.arrays(np.float64, (5, 3), elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_standardised_is_always_finite(X):
    assert np.isfinite(Dataset(X).standardised().X).all()


@given(
    hnp.arrays(
        st.sampled_from([np.float16, np.float32, ">f8", ">i2", np.int64, np.uint64, np.bool_]),
        hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4),
    )
)
def test_any_array_is_refused_in_words_or_usable(X):
    try:
        data = load(X)
    except DataError:
        return
    assert np.isfinite(data.points()).all()
    assert data.points().shape == data.X.shape
    assert len(data) >= 2
    assert data.X.dtype.isnative


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.array([[0.0, 1.0], [np.nan, 2.0]]), "row 1, column 0 .*NaN"),
        (np.array([[0.0, -np.inf], [3.0, 2.0]]), "row 0, column 1 .*infinite"),
        (np.array([[1 + 2j, 3], [4, 5]]), "complex"),
        (np.array([[1, None], [2, 3]], dtype=object), "objects"),
        (np.array([["a", "b"], ["c", "d"]]), "text"),
        (np.array([[2**53 + 1, 0], [0, 1]]), "row 0, column 0 .*2\\*\\*53"),
        (np.array([[2**63, 0], [0, 1]], dtype=np.uint64), "2\\*\\*53"),
        (np.zeros((3, 0)), "D = 0"),
        (np.zeros((0, 3)), "no rows"),
        (np.zeros((1, 3)), "1 point, at least two"),
        (np.zeros(3), "2-D"),
        (np.zeros((2, 2, 2, 2, 2)), "2-D"),
        ([[1, 2], [3]], "differ in length"),
        (np.ma.masked_equal([[1, 2], [3, 4]], 3), "row 1, column 0"),
        (np.array([["2020-01-01"], ["2021-01-01"]], dtype="M8[D]"), "datetime"),
    ],
)
def test_unusable_arrays_are_named(X, words):
    with pytest.raises(DataError, match=words):
        load(X)


def test_a_sparse_matrix_is_refused_with_the_remedy():
    from scipy import sparse

    with pytest.raises(DataError, match="toarray"):
        load(sparse.eye_array(3).tocsr())


@pytest.mark.parametrize("what", [None, 3, {"a": 1}, object()])
def test_what_is_no_data_at_all_is_an_input_error(what):
    with pytest.raises(InputError):
        load(what)


def test_ids_may_be_large_numbers_and_must_be_distinct():
    assert load(np.eye(2), ids=[2**31, 2**63]).ids.tolist() == [str(2**31), str(2**63)]
    with pytest.raises(DataError, match="'a' is used for rows 0 and 2"):
        load(np.eye(3), ids=["a", "b", "a"])
    with pytest.raises(DataError, match="empty"):
        load(np.eye(2), ids=["a", ""])
    with pytest.raises(DataError, match="one id per point"):
        load(np.eye(3), ids=["a", "b"])


def test_labels_must_match_the_points():
    with pytest.raises(DataError, match="labels of shape"):
        load(np.eye(3), labels=[0, 1])
    with pytest.raises(DataError, match="row 1"):
        load(np.eye(3), labels=[0, np.nan, 1])
    assert load(np.eye(3), labels=[1.0, 0.0, 1.0]).class_names == ("0", "1")


def test_changing_the_array_afterwards_changes_nothing():
    X = np.eye(3)
    data = load(X)
    X[0, 0] = 99
    assert data.X[0, 0] == 1


def test_options_that_do_not_apply_are_refused():
    with pytest.raises(InputError, match="size="):
        load(np.eye(3), size=8)
    with pytest.raises(InputError, match="labels="):
        load("digits", labels="y")
    with pytest.raises(InputError, match="grey="):
        load(np.eye(3), grey=False)
    data = load(np.eye(3))
    assert load(data) is data


def test_stacks_of_images_and_image_shape():
    stack = np.arange(2 * 3 * 4).reshape(2, 3, 4)
    data = load(stack)
    assert data.image_shape == (3, 4)
    assert data.kind == "image"
    assert (data.X[1].reshape(3, 4) == stack[1]).all()
    assert load(np.zeros((2, 3, 4, 3))).image_shape == (3, 4, 3)
    assert load(np.zeros((2, 3, 4, 1))).image_shape == (3, 4)
    assert load(np.zeros((2, 12)), image_shape=(4, 3)).image_shape == (4, 3)
    with pytest.raises(DataError, match="image_shape"):
        load(np.zeros((2, 12)), image_shape=(5, 3))


def test_things_beside_vectors_are_drawn_and_follow_their_points(tmp_path):
    for k in range(3):
        Image.new("RGB", (30 + k, 20), "red").save(tmp_path / f"{k}.png")
        wav = as_wav(Sound(np.full(800 * (k + 1), 0.5, np.float32), 8000))
        (tmp_path / f"{k}.wav").write_bytes(wav)
    X = np.eye(3)
    photos = Dataset(X, paths=tuple(tmp_path / f"{k}.png" for k in range(3)), features="image")
    texts = Dataset(X, texts=("a cat", "a dog", "\ud800 lone"))
    sounds = Dataset(X, sounds=tuple(tmp_path / f"{k}.wav" for k in range(3)))
    rows = Dataset(X, rows=(("red", "1"), ("blue", "2"), ("green", "3")), columns=("c", "n"))
    assert [d.kind for d in (photos, texts, sounds, rows)] == ["image", "text", "sound", "table"]
    for data in (photos, texts, sounds, rows):
        drawn = data.draw(2, 100)
        assert max(drawn.size) <= 100
        assert data.subset([2]).draw(0, 100).tobytes() == drawn.tobytes()
        assert data.draw(0, 100).tobytes() != drawn.tobytes()
        assert data.fingerprint == Dataset(X).fingerprint
    assert texts.texts[2] == "\\ud800 lone"


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"kind": "text"}, "need texts="),
        ({"kind": "sound"}, "need sounds="),
        ({"kind": "film"}, "kind must be one of image, text, sound, table, vector"),
        ({"kind": "image"}, "image_shape"),
        ({"texts": ("a",)}, "1 texts for 2 points"),
        ({"sounds": ()}, "0 sound files for 2 points"),
        ({"rows": (("a",), ("b", "c"))}, "rows differ in length"),
        ({"rows": (("a",), ("b",)), "columns": ("x", "y")}, "2 column names for 1 columns"),
    ],
)
def test_things_that_do_not_fit_are_refused(facts, words):
    with pytest.raises((DataError, InputError), match=words):
        Dataset(np.eye(2), **facts)
