"""Write down what users rely on: commands, Python names, scores, metrics, corpora, schemas, extras, exit codes.

`python tools/contract.py` writes one file for each subject below `tests/contract/`; `tests/test_contract.py` compares
them with the package, so that nothing in them changes by accident.  What changes on purpose is written anew in the same
commit, and stands in CHANGELOG.md under "Added", "Changed" or "Removed".
"""

import argparse
import contextlib
import inspect
import json
import os
import re
import sys
import tomllib
import typing
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "tests" / "contract"
WIDTH = 120
HIDDEN = ("description", "title", "$comment", "examples")
"""Keywords of JSON Schema that accept or refuse nothing."""


def describe_commands() -> dict[str, Any]:
    """Describe every command: its arguments, and its options with types, choices and defaults."""
    from closeread.cli import main

    return {
        " ".join(path): _describe_command(command) for path, command in _walk(main, ("closeread",))
    }


def _walk(
    command: click.Command, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path[-1])
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is None:
                raise LookupError(f"{' '.join(path)} lists {name}, but has no such command")
            yield from _walk(found, (*path, name))


def _describe_command(command: click.Command) -> dict[str, Any]:
    context = click.Context(command, info_name="closeread")
    arguments, options = {}, {}
    for parameter in command.get_params(context):
        if isinstance(parameter, click.Argument):
            arguments[parameter.make_metavar(context)] = _describe_parameter(parameter)
        elif not {"--help", "--help-all"} & {*parameter.opts}:
            options[" ".join([*parameter.opts, *parameter.secondary_opts])] = _describe_parameter(
                parameter
            )
    return {"arguments": arguments, "options": dict(sorted(options.items()))}


def _describe_parameter(parameter: click.Parameter) -> str:
    """Write the type, choices, range and default of a parameter in a line."""
    kind, words = (
        parameter.type,
        ["flag" if getattr(parameter, "is_flag", False) else parameter.type.name],
    )
    if isinstance(kind, click.Choice):
        words.append("|".join(str(getattr(choice, "value", choice)) for choice in kind.choices))
    words += [
        f"{bound} {getattr(kind, bound)}"
        for bound in ("min", "max")
        if getattr(kind, bound, None) is not None
    ]
    words += ["required"] if parameter.required else []
    words += ["repeatable"] if parameter.multiple or parameter.nargs == -1 else []
    words += [f"of {parameter.nargs}"] if parameter.nargs > 1 else []
    words += ["turns off"] if str(parameter.name).startswith("no_") else []
    default = parameter.default
    if not (callable(default) or isinstance(default, Enum) or default in (None, (), False)):
        words.append(f"default {default}")
    return ", ".join(words)


def describe_python() -> dict[str, Any]:
    """Describe every public name: functions by signature, classes with their public members."""
    import closeread
    from closeread import exceptions as home

    found = {
        name: _describe_name(getattr(closeread, name))
        for name in sorted(closeread.__all__)
        if name[0] != "_"
    }
    exceptions = [
        f"{name}({', '.join(base.__name__ for base in one.__bases__)})"
        for name, one in sorted(vars(home).items())
        if inspect.isclass(one)
        and issubclass(one, Exception)
        and one.__module__.startswith("closeread")
    ]
    return {**found, "exceptions": exceptions}


def _describe_name(one: Any) -> Any:
    if inspect.isclass(one):
        members = {"()": _sign(one)} if not issubclass(one, Warning) else {}
        for name, member in inspect.getmembers_static(one):
            if name[0] != "_" and not _is_of_a_base(one, name):
                found = getattr(one, name, member)
                members[name] = _sign(found) if callable(found) else "attribute"
        for name in getattr(one, "__dataclass_fields__", None) or typing.get_type_hints(one):
            if name[0] != "_":
                members.setdefault(name, "attribute")
        return dict(sorted(members.items()))
    return _sign(one)


def _is_of_a_base(one: type, name: str) -> bool:
    """Return whether a class has a member from Python, not from the package."""
    home = next((base for base in one.__mro__ if name in vars(base)), object)
    return not home.__module__.startswith("closeread")


def _sign(function: Callable[..., Any]) -> str:
    """Write the signature: names, kinds, defaults and types, the latter without the modules that they come from."""
    signature = inspect.signature(function)
    parameters = [one for one in signature.parameters.values() if one.name not in ("self", "cls")]
    # of types that are known to type checkers only
    with contextlib.suppress(AttributeError, NameError):
        declared = inspect.unwrap(function)
        texts = {name: one for name, one in declared.__annotations__.items() if name != "return"}
        hints = typing.get_type_hints(
            SimpleNamespace(__annotations__=texts), vars(sys.modules[declared.__module__])
        )
        parameters = [
            one.replace(annotation=hints.get(one.name, one.annotation)) for one in parameters
        ]
    # Loading a dataset puts another Path into the module of its builder.
    text = str(signature.replace(parameters=parameters)).replace("xPath", "Path")
    return re.sub(r"\b(?:[A-Za-z_]\w*\.)+(?=\w)", "", text.replace("'", ""))


def describe_scores() -> dict[str, Any]:
    """Describe every procedure: version, scores by name with titles, options with choices and defaults, presets."""
    from closeread.tasks import load_procedure, procedure_names

    found = {}
    for name in procedure_names():
        procedure = load_procedure(name)
        found[name] = {
            "version": procedure.version,
            "unit": procedure.unit,
            "resampling_unit": procedure.resampling_unit,
            "headline": procedure.headline,
            "scores": {metric.name: metric.title for metric in procedure.metrics},
            "more_scores": {metric.name: metric.title for metric in procedure.more_metrics},
            "options": {
                option.name: {
                    "accepted": list(option.choices) or option.expected,
                    "default": option.default,
                    "signed": option.signed,
                }
                for option in procedure.options
            },
            "presets": sorted(procedure.presets),
            "breakdowns": list(procedure.breakdowns),
        }
    return found


def describe_modules() -> dict[str, Any]:
    """Describe every evaluate module: the features of what it takes, and the arguments of `compute`."""
    import closeread

    found = {}
    for name in closeread.metrics():
        module = closeread.load_metric(name)
        features = module.features if isinstance(module.features, list) else [module.features]
        found[name] = {
            "features": [_order(one.to_dict()) for one in features],
            "compute": _sign(module.compute),
        }
    return found


def describe_corpora() -> dict[str, Any]:
    """Describe every corpus: the splits and the fields of each config, and its baselines."""
    import closeread

    found = {}
    for name, entry in closeread.corpora().items():
        configs = {}
        for config, splits in entry.configs.items():
            builder = closeread.load_dataset_builder(name, config)
            configs[config] = {
                "splits": list(splits),
                "fields": _order(builder.info.features.to_dict()),
            }
        found[name] = {
            "procedure": entry.procedure,
            "baselines": list(entry.baselines),
            "configs": configs,
        }
    return found


def _order(fields: Any) -> Any:
    """Sort the keys of features, which have an order only for people."""
    if isinstance(fields, dict):
        return {key: _order(fields[key]) for key in sorted(fields)}
    return [_order(one) for one in fields] if isinstance(fields, list) else fields


def describe_schemas() -> dict[str, Any]:
    """Return every JSON Schema of the package, without what is said to people only."""
    import closeread
    import closeread.schemas
    from closeread.counts.report_file import ReportFile
    from closeread.json_schema import derive_schema
    from closeread.leaderboard import declaration, index_file, results, submission

    package = Path(closeread.__file__).parent
    homes = [
        *package.rglob("*.schema.json"),
        *Path(closeread.schemas.__file__).parent.glob("*.json"),
    ]
    schemas = {
        path.name: _drop_prose(json.loads(path.read_text("utf-8")))
        for path in sorted(homes, key=lambda p: p.name)
    }
    schemas["report"] = _drop_prose(derive_schema(ReportFile))
    for kind in (
        declaration.Declaration,
        index_file.Index,
        results.Entry,
        results.Record,
        submission.About,
        submission.Request,
    ):
        schemas[f"leaderboard: {kind.__name__}"] = _drop_prose(derive_schema(kind))
    return schemas


def _drop_prose(schema: Any, is_schema: bool = True) -> Any:
    """Drop descriptions; below `properties` and `$defs`, keys are names."""
    if isinstance(schema, dict):
        return {
            key: _drop_prose(
                value, not (is_schema and key in ("properties", "$defs", "patternProperties"))
            )
            for key, value in schema.items()
            if not (is_schema and key in HIDDEN)
        }
    return [_drop_prose(value) for value in schema] if isinstance(schema, list) else schema


def describe_extras() -> list[str]:
    """Return the names of the extras."""
    return sorted(
        tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
            "optional-dependencies"
        ]
    )


def describe_exit_codes() -> dict[str, int]:
    """Run a command that succeeds, and others that fail, each in its way, and return their exit codes."""
    from click.testing import CliRunner

    from closeread.cli import main

    folder = ROOT / "loaders" / "marmara_coref" / "sample" / "annotations" / "77000112"
    anna, ben = (str(folder / f"{annotator}.conll") for annotator in ("anna", "ben"))
    lines = {
        "success": ("--version",),
        "invalid input": ("score", "mctaco", "no-such-file.jsonl", "--config", "sample"),
        "wrong usage": ("score", "mctaco", "--no-such-option"),
        "unknown command": ("no-such-command",),
        "a system is worse": ("compare", "coref", anna, anna, ben, "--fail-if-worse", "0"),
    }
    return {name: CliRunner().invoke(main, line).exit_code for name, line in lines.items()}


SUBJECTS: dict[str, Callable[[], Any]] = {
    "commands": describe_commands,
    "python": describe_python,
    "scores": describe_scores,
    "evaluate": describe_modules,
    "corpora": describe_corpora,
    "schemas": describe_schemas,
    "extras": describe_extras,
    "exit_codes": describe_exit_codes,
}


def write(subject: str) -> str:
    """Return the text of the file of a subject."""
    return _lay_out(SUBJECTS[subject](), "") + "\n"


def _lay_out(value: Any, indent: str) -> str:
    """Write JSON in which what fits stands on one line, so that a change is a readable difference."""
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or len(indent) + len(line) <= WIDTH:
        return line
    inner = indent + " "
    if isinstance(value, dict):
        lines = [f"{inner}{json.dumps(key)}: {_lay_out(one, inner)}" for key, one in value.items()]
    else:
        lines = [inner + _lay_out(one, inner) for one in value]
    start, end = "{}" if isinstance(value, dict) else "[]"
    return f"{start}\n" + ",\n".join(lines) + f"\n{indent}{end}"


def main() -> None:
    """Write the files of all subjects, or of those that are named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "subjects",
        nargs="*",
        metavar="SUBJECT",
        help=f"one of {', '.join(SUBJECTS)} (default: all)",
    )
    names = parser.parse_args().subjects or list(SUBJECTS)
    if unknown := sorted(set(names) - set(SUBJECTS)):
        parser.error(f"no such subject: {', '.join(unknown)} (choose from: {', '.join(SUBJECTS)})")
    os.environ |= {"HF_HUB_OFFLINE": "1"}
    os.environ.pop("CLOSEREAD_DATA", None)
    FOLDER.mkdir(exist_ok=True)
    for name in names:
        (FOLDER / f"{name}.json").write_text(write(name), "utf-8")


if __name__ == "__main__":
    main()
