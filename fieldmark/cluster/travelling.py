"""What travels to a node, for the whole run and for each episode, and back: no gold, and no path."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fieldmark.evals.benchmarks.base import Benchmark
from fieldmark.needs import Needs
from fieldmark.prices import Costs
from fieldmark.records import EpisodeRecord
from fieldmark.sandbox.build_context import Variant
from fieldmark.sandbox.gateway.session import Outcome
from fieldmark.skills.skill import Skill
from fieldmark.staging import StagedTask


@dataclass(frozen=True)
class NodeFacts:
    """What a node says of itself. `room`: the episodes that it holds at once; `image`: the image's id."""

    fieldmark: str
    python: str
    image_tag: str
    image: str
    engine: str
    runtime: str
    room: int


@dataclass(frozen=True)
class Brief:
    """All that a node must know of a run; it is sealed, for it holds the run's keys.

    `config` is a RunConfig as JSON, without files of the driver; paths in `benchmark` are below the package.
    `files` are the user's own: where a container finds each → its bytes. `actions` is the text of
    `--actions`. `keys`: variable → value. `expected` are the episodes that may come to this node, `at_once`
    those that it plays at once.
    """

    run_id: str
    config: dict[str, Any]
    benchmark: Benchmark
    tools: list[str]
    skills: list[Skill]
    needs: Needs
    variant: Variant
    agent_name: str
    worker_agent: str
    costs: Costs
    files: dict[str, bytes]
    actions: bytes | None
    keys: dict[str, str] = field(repr=False)
    expected: int = 0
    at_once: int = 1


@dataclass(frozen=True)
class Errand:
    """One attempt at one task. `staged` has no gold; `blobs` are its pictures: file name → bytes.

    `tools` and `skills` are names: a probe has none of those of the run.
    """

    staged: StagedTask
    blobs: dict[str, bytes]
    tools: list[str]
    skills: list[str]
    epoch: int
    attempt: int
    earlier: list[str]


@dataclass(frozen=True)
class Played:
    """What came of an errand. `blobs` are those that it wrote, file name → bytes as stored."""

    record: EpisodeRecord
    outcome: Outcome
    trace: bytes
    blobs: dict[str, bytes]
