"""A Python file of the user's own, anywhere: told from a name, run, its faults told in one line."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from fieldmark.errors import UsageError


def is_file_name(name: str) -> bool:
    """Whether `name` names a Python file rather than a thing of ours."""
    return "/" in name or name.endswith(".py")


def run_file(path: Path, module_name: str) -> ModuleType:
    """Execute a file as the module `module_name`. Whatever it raises passes."""
    spec = importlib.util.spec_from_file_location(module_name, path.absolute())
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # dataclasses and type hints look their module up there
    spec.loader.exec_module(module)
    return module


def run_or_refuse(option: str, path: Path, module_name: str) -> ModuleType:
    """`run_file` on the host; a UsageError that names `option`, the file and the line when it fails."""
    check_file(option, path)
    try:
        return run_file(path, module_name)
    except (Exception, SystemExit) as error:
        raise UsageError(
            f"{option} {path}{_line(error, path)}: {type(error).__name__}: {error}: mend it"
        ) from None


def check_file(option: str, path: Path) -> None:
    """UsageError unless it is a Python file that is there."""
    if path.suffix != ".py":
        raise UsageError(f"{option} {path} is not a Python file: name a .py file")
    if not path.is_file():
        raise UsageError(f"{option} {path} is not there: name a .py file")


def check_mountable(name: str, path: Path) -> None:
    """UsageError for a file that a container, another user, cannot be given; `name` is for the line."""
    if not path.stat().st_mode & 0o004:
        raise UsageError(f"{name} can be read by its owner alone: `chmod a+r {path}`")
    if ":" in str(path):
        raise UsageError(f"{name}: a path with a colon cannot be mounted: rename or move {path}")


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _line(error: BaseException, path: Path) -> str:
    """`:LINE` of the file where it failed."""
    file = str(path.absolute())
    if isinstance(error, SyntaxError) and error.filename == file:
        return f":{error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f":{lines[-1]}" if lines else ""
