"""Many small cases as one test."""

import contextlib
import functools
import inspect
import os

import pytest

from closeread.corpus import notices

ParameterSet = type(pytest.param(None))


def for_each(names, cases, ids=None):
    """Run a test for each case, as `pytest.mark.parametrize` does, but as one test, which names all cases that fail.

    Each case has a `tmp_path` (or folder `here`) and a `monkeypatch` of its own; the other fixtures are shared.
    """
    listed = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    cases, rows = list(cases), {}
    labels = map(ids, cases) if callable(ids) else ids or [None] * len(cases)
    for number, (case, label) in enumerate(zip(cases, labels, strict=True)):
        if isinstance(case, ParameterSet):
            assert not case.marks
            label, row = case.id or label, case.values
        else:
            row = (case,) if isinstance(names, str) and len(listed) == 1 else case
        label = label or "-".join(map(describe, row))
        rows[f"{label} ({number})" if label in rows else label] = dict(
            zip(listed, row, strict=True)
        )
    assert rows, "no cases"

    def decorate(test):
        @functools.wraps(test)
        def try_each(**fixtures):
            failures, skipped = {}, []
            for number, (label, arguments) in enumerate(rows.items()):
                try:
                    with made_anew(fixtures, number) as fresh:
                        test(**fresh, **arguments)
                except pytest.skip.Exception as skip:
                    skipped.append(skip.msg)
                except (Exception, pytest.fail.Exception) as error:
                    error.add_note(f"in case {label}")
                    failures[label] = error
            if failures:
                message = f"{len(failures)} of {len(rows)} cases fail: {', '.join(failures)}"
                raise BaseExceptionGroup(message, list(failures.values()))
            if skipped:
                pytest.skip(
                    skipped[0]
                    if len(skipped) == len(rows)
                    else f"{len(skipped)} of {len(rows)} cases: {skipped[0]}"
                )

        signature = inspect.signature(test)
        rest = [parameter for name, parameter in signature.parameters.items() if name not in listed]
        assert len(rest) + len(listed) == len(signature.parameters), (
            f"{test.__name__} does not take {names}"
        )
        try_each.__signature__ = signature.replace(parameters=rest)
        return try_each

    return decorate


def describe(value):
    """A short name of one argument."""
    text = value if isinstance(value, str) else getattr(value, "__name__", None) or repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


@contextlib.contextmanager
def made_anew(fixtures, number):
    """Yield the fixtures of a test for one of its cases: nothing of the cases before is there."""
    notices._shown.clear()
    fresh, folder = dict(fixtures), os.getcwd()
    # A test that takes a folder has one for each case; a working directory that is this folder changes with it.
    for name in {"tmp_path", "here"} & fixtures.keys():
        fresh[name] = fixtures[name] / str(number)
        fresh[name].mkdir(exist_ok=True)
        if os.path.samefile(folder, fixtures[name]):
            os.chdir(fresh[name])
    with pytest.MonkeyPatch.context() as monkeypatch:
        if "monkeypatch" in fixtures:
            fresh["monkeypatch"] = monkeypatch
        try:
            yield fresh
        finally:
            monkeypatch.undo()
            os.chdir(folder)
