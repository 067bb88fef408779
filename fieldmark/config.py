"""What a run is asked to do: a TOML file, flags over it, defaults under it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from fieldmark.errors import UsageError, plain_reason
from fieldmark.model_config import ClassifierConfig, GameConfig, JudgeConfig, ModelConfig
from fieldmark.options import FLAT, MODEL_KEYS, arrange
from fieldmark.prices import Price, read_prices
from fieldmark.protocol import ProtocolName
from fieldmark.task import Limits, OcrEngine, SkillCalls
from fieldmark.toml_file import read_toml

VIEW_BYTES, VIEW_MEGAPIXELS = 10 * 2**20, 36.0
"""What the view of a picture may have, as far as is known of the providers that take least."""
ImageChoice = Literal["full", "blank"] | int
REPLAY = "replay:"
"""What the name of a model begins with that is a recorded run."""
FROZEN = "frozen:"
"""What a memory begins with that is a finished run's."""

_HOST_PATTERN = re.compile(r"(https?://)?(\*\.)?([a-z0-9_-]+\.)*[a-z0-9_-]+(/\S*)?", re.IGNORECASE)


class RunConfig(BaseModel):
    """One run: an agent and a model over the tasks of a benchmark.

    `benchmark` is a bundled name or a path to `tasks.jsonl`, or one whose `data` the user brings (`fika`,
    `pix2fact`), with `map`, field → key of its manifest, for what cannot be told, or `fine-r1`, which may
    have an `image_root`, a `world` and an order of `options` of its own. `protocol` fixes what a paper fixes
    (`fieldmark/protocol.py`). `agent` is a name, or a file of the user's own; `tool` are files of tools of
    the user's own, beside those of fieldmark. `tasks` keeps only these ids, `where` only tasks with these
    labels, `limit` the first so many (0: all); `order` is that of the benchmark (0) or the so-many-th
    permutation of `seed` (`fieldmark/task_selection.py`). `tools` and `skills` are entries
    of the grammar of `fieldmark.selection`; None: all.
    `skill_calls`: what a model that calls a skill as if it were a tool gets, the skill's text (`helpful`)
    or only `not_found` (`strict`). `ocr` is the engine behind the tool `ocr`. `image_side` is the longest
    side, in pixels, of the view that models are shown; a task whose picture has over `max_megapixels` is
    refused. A view over `image_bytes` or `image_megapixels` is encoded anew and shrunk by steps of 0.9, for
    the model's server. `image` is what stands in for the pictures themselves, whatever looks at them: `full`
    (nothing), `blank` (grey of the same size), or the longest side in pixels to which they are shrunk.
    `parallel` is episodes at once; None: what the engine's cores and memory hold, at most 8.
    `executor` is where episodes play: on this machine, or on the nodes of the Ray cluster at `address`.
    `runtime` is that of the engine which starts the containers; None: the engine's default.
    `min_free_mb`: less free disk than this stops the run before or between episodes.

    `classifier` is what `fieldmark classify` asks where facts do not decide why an answer was wrong.

    `game` says how the games of AMIGO are refereed.

    `eyes` is the vision model that the tool `inspect_image` asks; where it names no server, it is served by
    the model's, with the model's key.

    `probe`: play one episode on a generated picture first, where the model claims sight; a pair that turns
    out to be blind stops the run unless `allow_blind`.

    `replay` is the run folder of a model `replay:RUN`; `strict`: a request that differs from its recorded one
    stops the run. `cache` is a folder of model replies that are kept for runs that ask the very same.

    `web`: `offline` (nothing goes out; pages of `site` and of `web_archive`), `replay` (the same, and there
    must be an archive), `record` (the web, archived), `live` (the web). `site` is a folder with a folder for
    each host. `allow` (empty: every public host) and `deny` are hosts or host/path, with their subdomains.
    `allow_local` names `host:port` that are reached although not public: for tests.

    `search` answers `web_search`: `site`, `serpapi` or `serpapi:ENGINE`; None: the site, else what the
    archive has recorded. `reverse` answers `reverse_image_search`: `local`, or `serpapi` (Google Lens), which
    sends the task pictures out and needs `allow_upload`; None: local. `index` and `registry` stand in for
    those of the benchmark. `facets` is a TSV of id, name, value: further labels of its tasks.

    `memory`: `off`, `inherit` (an episode reads the notes that earlier ones took), or `frozen:RUN` (all read
    the notes of the run folder RUN, and none is taken; `memory_before`: only those that the episode of this
    task had there). Episodes that inherit play one after the other, or
    `waves` at once: those of a wave read what earlier waves left. `memory_url` is a Postgres database for
    the notes; None: SQLite in the run folder. `memory_form`: `store`, notes; `native`, the files that an
    agent of others keeps itself.

    `prices` are those of `fieldmark/prices.toml` that the user knows better: a table, or a file of one.
    `max_cost` (USD) and `max_hours`, over all sittings, stop the run between episodes. `preflight`: whether
    the model is tried with a few small requests before the run. `actions` is a TOML file that says what tools
    of the user's own do (`sandbox/gateway/conversation/actions.toml`).

    `with_twin`: run the closed-book twin afterwards (`fieldmark/twin.py`).
    """

    model_config = ConfigDict(extra="forbid")

    benchmark: str = "fieldmark-mini"
    data: Path | None = None
    map: dict[str, str] = {}
    image_root: Path | None = None
    world: Literal["closed", "open"] | None = None
    options: Literal["official", "shuffled"] | None = None
    protocol: ProtocolName | None = None
    agent: str = "react"
    model: ModelConfig = ModelConfig()
    eyes: ModelConfig | None = None
    judge: JudgeConfig = JudgeConfig()
    classifier: ClassifierConfig | None = None
    game: GameConfig | None = None
    tools: list[str] | None = None
    tool: list[Path] = []
    skills: list[str] | None = None
    skill_calls: SkillCalls = "helpful"
    ocr: OcrEngine = "tesseract"
    tasks: list[str] | None = None
    where: str | None = None
    limit: int = Field(default=0, ge=0)
    epochs: int = Field(default=1, ge=1, le=1000)
    seed: int = 0
    order: int = Field(default=0, ge=0)
    parallel: int | None = Field(default=None, ge=1, le=256)
    limits: Limits = Limits()
    probe: bool = True
    allow_blind: bool = False
    image: ImageChoice = "full"
    image_side: int = Field(default=2048, ge=64, le=16384)
    image_bytes: int = Field(default=VIEW_BYTES, ge=10_000, le=2**26)
    image_megapixels: float = Field(default=VIEW_MEGAPIXELS, gt=0, le=120)
    max_megapixels: float = Field(default=120, gt=0, le=120)
    executor: Literal["local", "ray"] = "local"
    address: str | None = None
    runtime: str | None = None
    min_free_mb: int = Field(default=500, ge=0)
    replay: Path | None = None
    strict: bool = False
    cache: Path | None = None
    web: Literal["offline", "replay", "record", "live"] = "offline"
    web_archive: Path | None = None
    site: Path | None = None
    allow: list[str] = []
    deny: list[str] = []
    allow_local: list[str] = []
    search: str | None = None
    reverse: Literal["local", "serpapi"] | None = None
    allow_upload: bool = False
    serpapi_key_env: str = "SERPAPI_API_KEY"
    index: Path | None = None
    registry: Path | None = None
    facets: Path | None = None
    memory: str = "off"
    memory_before: str | None = None
    waves: int | None = Field(default=None, ge=1, le=256)
    memory_url: str | None = None
    memory_form: Literal["store", "native"] = "store"
    prices: dict[str, Price] = {}
    max_cost: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    max_hours: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    preflight: bool = True
    actions: Path | None = None
    name: str | None = None
    out: Path | None = None
    with_twin: bool = False

    @field_validator("prices", mode="before")
    @classmethod
    def _price_file(cls, value: object) -> object:
        return read_prices(Path(value)) if isinstance(value, str | Path) else value

    @field_validator("tools", "skills", "tasks", "allow", "deny", "allow_local", mode="before")
    @classmethod
    def _names(cls, value: object) -> object:
        """In a file, too, names may stand in one string with commas."""
        return (
            [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value
        )

    @field_validator("tool", mode="before")
    @classmethod
    def _files(cls, value: object) -> object:
        """In a file, one path may stand without a list."""
        return [value] if isinstance(value, str) else value

    @field_validator("image", mode="before")
    @classmethod
    def _known_image(cls, value: object) -> object:
        if value in ("full", "blank") or (str(value).isdecimal() and 64 <= int(str(value)) <= 16384):
            return value
        raise ValueError("give full, blank, or the longest side in pixels, 64 to 16384")

    @field_validator("allow", "deny")
    @classmethod
    def _hosts(cls, patterns: list[str]) -> list[str]:
        for pattern in patterns:
            if not _HOST_PATTERN.fullmatch(pattern):
                raise ValueError(f"{pattern!r} is no host: give wikipedia.org or wikipedia.org/wiki")
        return patterns

    @field_validator("allow_local")
    @classmethod
    def _hosts_and_ports(cls, places: list[str]) -> list[str]:
        for place in places:
            host, _, port = place.rpartition(":")
            if not host or not port.isdecimal():
                raise ValueError(f"{place!r} is no host:port: give 127.0.0.1:8000")
        return places

    @field_validator("memory")
    @classmethod
    def _memory_form(cls, memory: str) -> str:
        if memory not in ("off", "inherit") and not memory.removeprefix(FROZEN).strip():
            raise ValueError("frozen: names no run: give frozen:RUN, a run folder")
        if memory not in ("off", "inherit") and not memory.startswith(FROZEN):
            raise ValueError("give off, inherit or frozen:RUN")
        return memory

    @property
    def benchmark_settings(self) -> dict[str, Any]:
        """What is said of how the benchmark is read and asked, beside its data."""
        told = {"image_root": self.image_root, "world": self.world, "options": self.options}
        return {name: value for name, value in told.items() if value is not None}

    @property
    def frozen(self) -> Path | None:
        """The run whose notes all episodes read."""
        return Path(self.memory.removeprefix(FROZEN)) if self.memory.startswith(FROZEN) else None

    @property
    def most_at_once(self) -> int | None:
        """Episodes that may play at once for the sake of their memory; None: any number."""
        return (self.waves or 1) if self.memory == "inherit" else None

    @model_validator(mode="after")
    def _eyes_at_the_models_server(self) -> RunConfig:
        if self.eyes and self.eyes.base_url is None:
            key_env = self.eyes.key_env if "key_env" in self.eyes.model_fields_set else self.model.key_env
            self.eyes = self.eyes.model_copy(update={"base_url": self.model.base_url, "key_env": key_env})
        return self

    @model_validator(mode="after")
    def _player_and_judge_of_a_game(self) -> RunConfig:
        if self.benchmark.replace("_", "-") in ("amigo", "amigo-garments"):
            given = set(self.model_fields_set)
            self.agent = self.agent if "agent" in given else "amigo_player"
            self.judge = self.judge if "judge" in given else JudgeConfig(name="amigo")
        return self

    @model_validator(mode="after")
    def _model_of_a_recording(self) -> RunConfig:
        if self.model.name.startswith(REPLAY):
            self.replay = Path(self.model.name.removeprefix(REPLAY))
        return self


def load_config(toml: Path | None, flags: dict[str, Any]) -> RunConfig:
    """Defaults, then the TOML file, then the flags that were given. UsageError names the wrong key."""
    return make_config(read_toml(toml) if toml else {}, flags, toml)


def make_config(options: dict[str, Any], flags: dict[str, Any], source: Path | None = None) -> RunConfig:
    """Of options that stand in `source`, and flags over them."""
    try:
        return RunConfig.model_validate(arrange(options, flags))
    except ValidationError as error:
        raise UsageError(_explain(error, source)) from None


def known_options() -> list[str]:
    """Every key of a file."""
    return [*RunConfig.model_fields, *FLAT, *(key for keys in MODEL_KEYS.values() for key in keys)]


def _explain(error: ValidationError, toml: Path | None) -> str:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    flag = {field: key for key, field in FLAT.items()}.get(str(first["loc"][-1]), where)
    if first["type"] == "extra_forbidden":
        return f"{toml or 'configuration'}: unknown key {where!r}; the keys are {', '.join(known_options())}"
    return f"{flag}: {plain_reason(first['type'], first['msg'])} (got {first['input']!r})"
