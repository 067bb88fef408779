"""The rules of the house: the links point right, imports run one way, the image's list is whole."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fieldmark.cli import COMMANDS
from fieldmark.sandbox.build_context import agent_files

ROOT = Path(__file__).parents[1]
FOLDERS = ("agents", "tools", "skills", "sandbox", "memory", "evals")
ORCHESTRATORS = {
    "__init__", "abilities", "chaining", "classifying", "describing", "runner", "episode", "facts", "launch",
    "leaks", "native", "own_agent", "own_code", "own_data",
    "preflight", "probing", "remembering", "replaying", "run_memory", "run_models", "serving",
    "typing_questions",
    "staging", "cli", "twin", "wires",
}  # fmt: skip
"""The modules of fieldmark/ that may import the folders, beside commands/."""
MAY_IMPORT = {
    "agents": {"tools", "skills", "memory"},
    "tools": {"skills", "memory"},
    "skills": {"tools"},
    "memory": set(),
    "sandbox": {"tools", "skills"},
    "evals": {"tools", "memory"},
}
"""A folder → the folders that its modules may import. evals/ holds gold: only fieldmark/ may reach it."""


def imports(path: Path) -> Iterator[tuple[str, str]]:
    """(folder, whole name) of each import of `fieldmark.<folder>…` in a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] == "fieldmark" and len(parts) > 1 and parts[1] in FOLDERS:
                yield parts[1], name


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_link_points_to_its_folder(folder: str) -> None:
    assert (ROOT / "fieldmark" / folder).readlink() == Path("..", folder)


@pytest.mark.parametrize("folder", FOLDERS)
def test_imports_between_the_folders_run_one_way(folder: str) -> None:
    found = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in (ROOT / folder).rglob("*.py")
        for target, name in imports(path)
        if target not in MAY_IMPORT[folder] | {folder}
    }
    assert found == set()


def test_of_the_shared_code_only_the_orchestrators_import_the_folders() -> None:
    importers = {p.stem for p in (ROOT / "fieldmark").glob("*.py") if next(imports(p), None)}
    assert importers <= ORCHESTRATORS


def imported_at_once(path: Path) -> Iterator[str]:
    """Modules that are imported with a file: not those for types alone, nor those inside functions."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_what_is_in_the_image_imports_nothing_of_ours_that_is_not() -> None:
    held = agent_files()
    lacking = {
        f"{name} imports {module}"
        for name, path in held.items()
        if path.suffix == ".py"
        for module in imported_at_once(path)
        if (file := f"{module.removeprefix('fieldmark.').replace('.', '/')}.py") not in held
        and module.startswith("fieldmark.")
        and (ROOT / "fieldmark" / file).exists()
    }
    assert lacking == set()


def test_nothing_imports_a_folder_by_its_bare_name() -> None:
    """`import tools` would load a module a second time, under another name."""
    for path in (p for folder in (*FOLDERS, "fieldmark", "tests") for p in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            assert not {name.split(".")[0] for name in names} & set(FOLDERS), path


def test_every_command_is_a_file_and_every_file_a_command() -> None:
    files = {path.stem for path in (ROOT / "fieldmark" / "commands").glob("*.py")} - {"__init__"}
    assert files == set(COMMANDS)


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("cli", {"pydantic", "docker", "rich", "PIL", "aiohttp", "openai", "langgraph"}),
        ("launch", {"langchain_core", "langgraph.graph", "openai", "scipy", "pandas", "cv2", "onnxruntime"}),
        ("launch", {"numpy", "cryptography", "duckdb", "jinja2", "fieldmark.evals.metrics.summary"}),
        ("evals.report.html", {"scipy", "statsmodels", "pandas", "duckdb"}),
    ],
)
def test_what_starts_often_starts_without_heavy_libraries(module: str, heavy: set[str]) -> None:
    code = f"import sys, fieldmark.{module}; print(*{heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_every_command_explains_itself_with_an_example(command: list[str]) -> None:
    done = subprocess.run(
        [str(Path(sys.executable).with_name("fieldmark")), *command, "--help"], capture_output=True, text=True
    )
    assert done.returncode == 0
    assert f"fieldmark {' '.join(command)}".strip() in done.stdout.partition("Options:")[0].partition("\n")[2]
