"""What a run offers its agent: the tools whose backend it has, and the skills that are on."""

from __future__ import annotations

from collections.abc import Sequence

from fieldmark.config import RunConfig
from fieldmark.errors import UsageError
from fieldmark.evals.benchmarks.base import Benchmark
from fieldmark.sandbox.gateway.builtin import BUILTIN
from fieldmark.sandbox.gateway.search.door import SearchDoor
from fieldmark.sandbox.gateway.web.door import WebDoor
from fieldmark.selection import offered_tools, select
from fieldmark.skills.choosing import choose
from fieldmark.skills.skill import Skill
from fieldmark.tools.base import Backend, Tool
from fieldmark.tools.registry import all_tools
from fieldmark.tools.vision import extra

_REMEDIES: dict[Backend | None, str] = {
    "web": "the web: name --web live or record, an archive or a --site",
    "search": "pages or an engine: name --site DIR, or --search serpapi",
    "found_pictures": "pictures that can be found, so an index or the web: leave it out",
    "eyes": "a vision model: name --eyes NAME",
    "memory": "a memory: name --memory inherit, or frozen:RUN",
    "notebook": "a memory that is written: name --memory inherit",
    "classifier": f"the extra `vision`: {extra.INSTALL}",
}


def choose_tools(
    config: RunConfig,
    benchmark: Benchmark,
    web: WebDoor | None,
    search: SearchDoor | None = None,
    own: Sequence[Tool] = (),
) -> list[str]:
    """The tools of `--tools`; when nothing is said, all whose backend this run has, also the user's `own`.

    The classifier stands in for eyes: only a model that has none gets it unasked.
    """
    asked = config.tools
    backends: dict[Backend, object] = {
        "index": benchmark.index or (search and search.lens),
        "registry": benchmark.registry,
        "search": search and search.engine,
        "web": web,
        "found_pictures": benchmark.index or web,
        "eyes": config.eyes,
        "classifier": extra.available(),
        "memory": config.memory != "off" and config.memory_form == "store",
        "notebook": config.memory == "inherit" and config.memory_form == "store",
    }
    missing = {name for name, place in backends.items() if not place}
    unasked = missing if config.model.name in BUILTIN else missing | {"classifier"}
    known = {tool.name: tool for tool in (*all_tools(), *own)}
    base = [name for name, tool in known.items() if tool.needs not in unasked]
    chosen = base if asked is None or asked == ["all"] else select(asked, list(known), base, "tool")
    for name in chosen:
        needs = known[name].needs
        if needs in missing:
            remedy = _REMEDIES.get(needs, f"a {needs}, and {benchmark.name} has none: leave it out")
            raise UsageError(f"tool {name} needs {remedy}")
    return chosen


def choose_abilities(
    config: RunConfig, benchmark: Benchmark, web: WebDoor | None, search: SearchDoor | None,
    without: frozenset[str] = frozenset(), own: Sequence[Tool] = (),
) -> tuple[list[str], list[Skill]]:  # fmt: skip
    """The tools that are offered and the skills that are on; a tool goes with the skills that carry it.

    `without` are tools that the agent has no use for, `own` the user's own.
    """
    skills, known = choose(config.skills if config.skills is not None else ["all"])
    carried = {skill.name: skill.allowed_tools for skill in known}
    tools = [name for name in choose_tools(config, benchmark, web, search, own) if name not in without]
    return offered_tools(tools, carried, [skill.name for skill in skills]), skills


def no_abilities(config: RunConfig) -> tuple[list[str], list[Skill]]:
    """For an agent that only talks. What serves tools alone may stand: arms of a study share options."""
    for option in ("tools", "tool", "skills"):
        if getattr(config, option) not in (None, [], ["none"]):
            noun = "tools" if option == "tool" else option
            raise UsageError(f"agent {config.agent} uses no {noun}: leave --{option} out")
    return [], []
