"""`fieldmark doctor`: whether this machine can run episodes, and what a model can do."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fieldmark.errors import UsageError

if TYPE_CHECKING:
    from fieldmark.doctor.abilities import Ability
    from fieldmark.doctor.asking import Model
    from fieldmark.doctor.machine import Check

_NEEDED = {"server", "lists the model", "plain text"}
"""Without these no run works; the rest is for the reader to weigh."""


@click.command("doctor")
@click.option("--model", help="Also try this model.")
@click.option("--base-url", help="Its server.  [default: $OPENAI_BASE_URL]")
@click.option(
    "--key-env", default="OPENAI_API_KEY", show_default=True, help="The variable that holds its key."
)
@click.option("--json", "as_json", is_flag=True, help="Print one object of all that was found.")
def command(model: str | None, base_url: str | None, key_env: str, as_json: bool) -> int:
    """Check this machine, and find out what a model can do by some fifteen small requests.

    A line each: PASS, WARN or FAIL with the remedy for this machine; yes, no or ? for the model. Exit code 1
    when something that every run needs has failed.

    \b
    fieldmark doctor
    fieldmark doctor --model qwen3-vl-8b --base-url http://localhost:8000/v1
    """
    from fieldmark.doctor.machine import check_machine

    asked = _model(model, base_url, key_env)
    checks, abilities = [], []
    for check in check_machine(Path("runs")):
        checks.append(check)
        if not as_json:
            _print_check(check)
    for ability in _examined(asked) if asked else ():
        abilities.append(ability)
        if not as_json:
            _print_ability(ability)
    if as_json:
        click.echo(json.dumps(_told(checks, asked, abilities), ensure_ascii=False, indent=2))
    lacking = any(each.can is False and each.name in _NEEDED for each in abilities)
    return 1 if lacking or any(check.mark == "FAIL" for check in checks) else 0


def _model(name: str | None, base_url: str | None, key_env: str) -> Model | None:
    import os

    from fieldmark.doctor.asking import Model

    if name is None:
        if base_url:
            raise UsageError("--base-url needs --model, the name of a model that it serves")
        return None
    url = base_url or os.environ.get("OPENAI_BASE_URL", "")
    if not url.startswith(("http://", "https://")):
        raise UsageError(f"--model {name} needs --base-url, an http:// or https:// URL of its server")
    return Model(name, url, key_env, {})


def _examined(model: Model) -> Iterator[Ability]:
    from fieldmark.doctor.abilities import Ability, examine
    from fieldmark.doctor.server import examine_server

    try:
        yield from examine_server(model)
    except UsageError as error:
        yield Ability("server", False, str(error))
        return
    yield from examine(model, secrets.randbelow(10**6))


def _print_check(check: Check) -> None:
    remedy = f" -> {check.remedy}" if check.remedy else ""
    click.echo(f"{check.mark}  {check.name}: {check.said}{remedy}")


def _print_ability(ability: Ability) -> None:
    click.echo(f"{_word(ability):<4}  {ability.name}{f': {ability.said}' if ability.said else ''}")


def _word(ability: Ability) -> str:
    return {True: "yes", False: "no", None: "?"}[ability.can]


def _told(checks: list[Check], model: Model | None, abilities: list[Ability]) -> dict[str, Any]:
    machine = [
        {"name": each.name, "mark": each.mark, "said": each.said, "remedy": each.remedy} for each in checks
    ]
    if model is None:
        return {"machine": machine}
    found = [{"name": each.name, "can": each.can, "said": each.said} for each in abilities]
    return {"machine": machine, "model": {"name": model.name, "url": model.shown, "abilities": found}}
