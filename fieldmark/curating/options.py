"""Options and arguments that commands of `fieldmark curate` share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

FOLDER = click.argument("folder", type=click.Path(path_type=Path, file_okay=False))


def asking(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of what asks models."""
    function = click.option("--probe/--no-probe", default=True, help="Try first whether the model sees.")(
        function
    )
    return click.option("--parallel", type=click.IntRange(1, 256), help="Pictures at once, as in run.")(
        function
    )
