"""The command line that the user typed, to repeat the command."""

import shlex

import typer


def as_typed(context: typer.Context) -> str:
    """Command line with the options that the user passed, to repeat the command."""
    words = ["surefoot", str(context.info_name)]
    for parameter in context.command.params:
        value = context.params.get(str(parameter.name))
        if value is None or value == parameter.default:
            continue
        flag = [parameter.opts[0]] if parameter.opts[0].startswith("-") else []
        for each in value if isinstance(value, (list, tuple)) else [value]:
            words += flag if each is True else [*flag, str(each)]
    return shlex.join(words)
