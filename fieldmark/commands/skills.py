"""`fieldmark skills`: what they are, and whether they are sound."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.group("skills")
def command() -> None:
    """List the bundled skills, or list and check any folder of skills.

    \b
    fieldmark skills list
    fieldmark skills check ./my-skills
    """


@command.command("list")
@click.argument("folders", metavar="[DIR]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print a list of {name, description, allowed_tools}.")
def list_skills(folders: tuple[Path, ...], as_json: bool) -> None:
    """List the bundled skills, or those of each DIR, and the tools that each carries.

    A tool that is carried is offered while a skill that carries it is on.

    \b
    fieldmark skills list
    fieldmark skills list ./my-skills
    fieldmark skills list --json | jq -r '.[].name'
    """
    from fieldmark.skills.loader import bundled_folder, load_folder

    skills = [skill for folder in folders or (bundled_folder(),) for skill in load_folder(folder)]
    if as_json:
        rows = [
            {"name": s.name, "description": s.description, "allowed_tools": s.allowed_tools} for s in skills
        ]
        click.echo(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    for skill in skills:
        carries = f" (carries {', '.join(skill.allowed_tools)})" if skill.allowed_tools else ""
        click.echo(f"{skill.name}{carries}\n    {skill.description}")


@command.command("check")
@click.argument("folders", metavar="[DIR]...", nargs=-1, type=click.Path(path_type=Path))
def check(folders: tuple[Path, ...]) -> int:
    """Check the skills of each DIR (a skill, or a folder of skills): a line PASS or FAIL each.

    Without DIR the bundled ones. Exit code 1 when one fails.

    \b
    fieldmark skills check
    fieldmark skills check ./my-skills ./another/skill
    """
    from fieldmark.skills.checking import problems
    from fieldmark.skills.loader import bundled_folder, skill_folders
    from fieldmark.tools.registry import tool_names

    failed = 0
    given = folders or (bundled_folder(),)
    places = [(place, folder) for folder in given for place in skill_folders(folder)]
    for place, folder in places:
        found = problems(place, folder, tool_names())
        failed += bool(found)
        if not found:
            click.echo(f"PASS  {place.resolve().name}")
        for problem in found:
            click.echo(f"FAIL  {problem}")
    return 1 if failed else 0
