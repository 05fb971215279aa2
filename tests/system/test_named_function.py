"""A function is found by name, and whatever is wrong with the name or the module is a sentence."""

from __future__ import annotations

import sys

import pytest

from superpac.errors import InputError, NotFoundError
from superpac.system.named_function import load_function


@pytest.fixture
def modules(tmp_path, monkeypatch):
    (tmp_path / "beside_it.py").write_text("limit = 3\n")
    (tmp_path / "judge_pairs.py").write_text(
        "import beside_it\nnumber = 7\ndef judge(a, b):\n    return a + b + beside_it.limit\n"
    )
    (tmp_path / "breaks_off.py").write_text("raise RuntimeError('two\\nlines')\n")
    (tmp_path / "leaves_early.py").write_text("raise SystemExit(3)\n")
    (tmp_path / "needs_more.py").write_text("import not_installed_anywhere\n")
    (tmp_path / "wrong_words.py").write_text("def (:\n")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name in ("judge_pairs", "beside_it"):
        sys.modules.pop(name, None)


def test_a_module_of_the_current_folder_is_found_and_the_search_path_stays(modules):
    before = list(sys.path)
    assert load_function("judge_pairs:judge")(1, 2) == 6
    assert sys.path == before


def test_a_file_is_found_from_anywhere_with_what_lies_beside_it(
    modules, tmp_path_factory, monkeypatch
):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert load_function(f"{modules / 'judge_pairs.py'}:judge")(1, 2) == 6


@pytest.mark.parametrize("named", ["judge", "judge_pairs:", ":judge", "judge_pairs:a b", ""])
def test_other_forms_are_refused(named, modules):
    with pytest.raises(InputError, match="module:function"):
        load_function(named)


@pytest.mark.parametrize("named", ["no_such:judge", "no.such:judge", "nothing.py:judge"])
def test_a_missing_module_is_named(named, modules):
    with pytest.raises(NotFoundError, match=named.partition(":")[0]):
        load_function(named)


@pytest.mark.parametrize("name", ["missing", "number"])
def test_what_is_no_function_is_named(name, modules):
    with pytest.raises(NotFoundError, match=f"called '{name}'"):
        load_function(f"judge_pairs:{name}")


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("breaks_off", "RuntimeError: two lines"),
        ("leaves_early", "SystemExit: 3"),
        ("needs_more", "not_installed_anywhere"),
        ("wrong_words", "SyntaxError"),
    ],
)
@pytest.mark.parametrize("ending", ["", ".py"])
def test_a_module_that_cannot_be_imported_says_why_in_one_line(module, said, ending, modules):
    with pytest.raises(InputError) as caught:
        load_function(f"{module}{ending}:judge")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
