"""Tests of the examples in the extension module's docstrings, the package's README and the documentation."""

import doctest
import re
from pathlib import Path

import pytest

import halfbyte as hb

ROOT = Path(__file__).resolve().parents[3]


def objects():
    """Yields classes with their members, and functions."""
    found = [(name, getattr(hb, name)) for name in ("parse", "parse_ptx", "run_ptx")]
    for of in (hb.Module, hb.Kernel, hb.Compiled, hb.Program, hb.Param):
        found += [(of.__name__, of)]
        found += [(f"{of.__name__}.{part}", getattr(of, part)) for part in vars(of) if not part.startswith("_")]
    return found


@pytest.mark.parametrize("name, of", objects(), ids=lambda value: value if isinstance(value, str) else "")
def test_docstrings(name, of):
    text = of.__doc__ or ""
    assert text or name.partition(".")[2] in ("keys", "values", "items", "get"), f"{name} has no docstring"
    test = doctest.DocTestParser().get_doctest(text, {"hb": hb}, name, None, None)
    shown = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=shown.append)
    assert not shown, "".join(shown)


@pytest.mark.parametrize("page", ["bindings/python/README.md", "docs/python.md"])
def test_pages(page, tmp_path, monkeypatch):
    """The Python blocks of a page run in order, and each `print` prints the `# ` comments that follow it."""
    text = (ROOT / page).read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert blocks
    monkeypatch.chdir(ROOT)
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
