"""The TOML specs are valid, complete, and seeds follow from names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from superpac.affinity.registry import make_affinity
from superpac.data.catalogue import CATALOGUE
from superpac.errors import InputError
from superpac.research.figure_specs import Line, figure_names, load_figure
from superpac.research.tasks import seed_of

PAPER = {"yale_mnist_many", "yaleFull", "coil", "usps", "sonar", "explore", "theory"}
BEYOND = {
    *("rivals", "wrong_answers", "affinities", "wrong_dim", "wrong_k", "time_per_question"),
    *("refit", "readings", "usps_input"),
}
STRATEGIES = {
    *("superpac", "superpac-s", "superpac-d", "superpac-pinned", "random", "urasc-n", "urasc"),
    *("explore-consolidate", "min-max", "npu", "cobras", "a3s", "biswas", "scal"),
}


def test_every_figure_is_there():
    assert set(figure_names()) == PAPER | BEYOND
    assert {name for name in figure_names() if load_figure(name).paper} == PAPER


@pytest.mark.parametrize("name", sorted(PAPER | BEYOND))
@pytest.mark.parametrize("quick", [False, True])
def test_every_task_can_be_built(name, quick):
    tasks = load_figure(name).tasks(quick=quick)
    assert tasks or (quick and name == "usps_input")  # too long for a quick run
    assert len({task.key for task in tasks}) == len(tasks)
    for task in tasks:
        if task.kind in ("theorem", "corollary"):
            continue
        benchmark = CATALOGUE[task.data]
        assert task.classes <= benchmark.n_classes
        if task.kind == "session":
            make_affinity(task.affinity, 2)
            assert task.strategy in STRATEGIES
            assert task.questions > 0
            assert 0 <= task.wrong < 0.5


def test_the_paper_table_is_followed():
    many = {p.name: p for p in load_figure("yale_mnist_many").panels}
    assert [(p.classes, p.dim, p.trials) for p in many.values()] == [
        (5, 9, 100), (10, 9, 100), (5, 3, 100), (10, 3, 100)]  # fmt: skip
    assert all(p.affinity == "ssc-faces" for p in (many["yale5"], many["yale10"]))
    assert all(p.affinity.startswith("tsc") for p in (many["mnist5"], many["mnist10"]))
    assert [p.dim for p in load_figure("usps").panels] == [9, 15]
    assert all(p.affinity.startswith("ensc") for p in load_figure("coil").panels)
    assert load_figure("yaleFull").panels[0].affinity.startswith("ssc-omp")


def test_quick_is_shorter():
    for name in figure_names():
        spec = load_figure(name)
        full, quick = spec.tasks(), spec.tasks(quick=True)
        assert len(quick) <= len(full)
        assert sum(t.questions for t in quick) <= sum(t.questions for t in full)


def test_seeds_derive_from_names_alone(small):
    more = replace(small, lines=(Line("random2", strategy="random"), *small.lines))
    before = {(t.panel, t.method, t.trial): t for t in small.tasks()}
    for task in more.tasks(trials=2):
        if task.method != "random2":
            assert task == before[task.panel, task.method, task.trial]
    same_trial = [t for t in small.tasks() if t.panel == "three" and t.trial == 0]
    assert len({t.data_seed for t in same_trial}) == 1
    assert len({t.seed for t in small.tasks()}) == len(small.tasks())


def test_seed_does_not_run_parts_together():
    assert seed_of("a", "bc", 1) != seed_of("ab", "c", 1)
    assert 0 <= seed_of("x") < 2**31


def test_quick_changes_options_only_where_they_are_given(small):
    quick = small.tasks(quick=True)
    assert {t.options.get("refit") for t in quick if t.method == "superpac"} == {"warm"}
    assert all(not t.options for t in quick if t.method == "random")
    assert {t.questions for t in quick if t.panel == "three" and t.kind == "session"} == {10}


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("name = ", "not valid TOML"),
        ('name = "x"\ntitle = "y"', "at least one panel"),
        ('nam = "x"', "unknown entries nam"),
        ('[[panel]]\nname = "p"\ntitle = "t"\ndata = "d"\nspeed = 1', "unknown entries speed"),
        (
            'name="x"\ntitle="y"\n[[panel]]\nname="p"\ntitle="t"\ndata="d"\nlines=["b"]\n'
            '[[line]]\nname="a"',
            "unknown lines",
        ),
        (
            'name="x"\ntitle="y"\n[[panel]]\nname="p"\ntitle="t"\ndata="d"\n'
            '[[line]]\nname="a"\nkind="magic"',
            "kind must be one of",
        ),
    ],
)
def test_a_broken_file_is_refused_in_a_sentence(tmp_path, broken, message):
    path = tmp_path / "broken.toml"
    path.write_text(broken)
    with pytest.raises(InputError, match=message):
        load_figure(path)


def test_an_unknown_figure_names_the_others():
    with pytest.raises(InputError, match="yale_mnist_many"):
        load_figure("figure7")


def test_each_reading_of_the_points_is_a_trial_of_its_own():
    tasks = load_figure("yale_mnist_many").tasks(trials=1, panels=["yale5"])
    found = {task.method: task for task in tasks}
    assert found["superpac"].unit_rows is False
    assert found["superpac-unit"].unit_rows is True
    assert found["superpac-unit"].strategy == "superpac"
    assert found["oracle-pca"].unit_rows is False
    assert found["oracle-pca-unit"].unit_rows is True
    # where it makes no difference, trials of before stay what they are
    assert found["urasc-n"].unit_rows is None
    assert found["urasc-n"].key == "375f68ed3dcc8d9861db76a7"
    assert found["superpac"].key != replace(found["superpac"], unit_rows=None).key
