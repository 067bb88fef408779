"""The models of a run: where they are served, that they answer, what they cost."""

from __future__ import annotations

import os
import secrets
from urllib.parse import urlsplit

from fieldmark.config import RunConfig
from fieldmark.doctor.abilities import Ability
from fieldmark.doctor.asking import Model
from fieldmark.doctor.brief import try_model
from fieldmark.doctor.server import listed
from fieldmark.errors import UsageError
from fieldmark.model_config import ModelConfig
from fieldmark.prices import Costs, Price, find_price
from fieldmark.sandbox.gateway.builtin import BUILTIN, ScoutUpstream
from fieldmark.sandbox.gateway.cache import ReplyCache, cached
from fieldmark.sandbox.gateway.endpoint import endpoint, public_url
from fieldmark.sandbox.gateway.replay.recording import Recording
from fieldmark.sandbox.gateway.replay.upstream import ReplayUpstream
from fieldmark.sandbox.gateway.upstream import HttpUpstream, Upstream
from fieldmark.tools.boxes import space_of
from fieldmark.trace import Role


def make_models(config: RunConfig, recording: Recording | None) -> tuple[Upstream, Upstream | None]:
    """The model and the eyes of a run, behind its cache if it has one; or those of a recording."""
    if recording:
        eyes = ReplayUpstream(recording, "eyes", strict=config.strict) if config.eyes else None
        return ReplayUpstream(recording, strict=config.strict), eyes
    cache = ReplyCache(config.cache) if config.cache else None
    seer = make_eyes(config.eyes)
    return cached(make_upstream(config.model), cache), seer and cached(seer, cache)


def make_eyes(eyes: ModelConfig | None) -> Upstream | None:
    """The vision model's upstream, known to be reachable; None when the run has none."""
    if eyes is None:
        return None
    if eyes.name in BUILTIN or not eyes.sees:
        raise UsageError(f"eyes {eyes.name!r}: this model sees no pictures: name a vision model")
    return make_upstream(eyes, "--eyes-url")


def make_upstream(model: ModelConfig, option: str = "--base-url") -> Upstream:
    """A model's upstream, known to be reachable; UsageError, naming the `option` of its URL, otherwise."""
    if model.name.startswith("builtin/"):
        if model.name not in BUILTIN:
            raise UsageError(f"unknown model {model.name!r}: the built-in models are {', '.join(BUILTIN)}")
        return ScoutUpstream(model.force)
    base_url = model.base_url or os.environ.get("OPENAI_BASE_URL")
    if not base_url:
        instead = f"; or take {BUILTIN[0]}" if option == "--base-url" else ""
        raise UsageError(f"model {model.name!r} needs {option}, an OpenAI-compatible server{instead}")
    if urlsplit(base_url).scheme not in ("http", "https"):
        raise UsageError(f"{option} {base_url!r} is not an http:// or https:// URL")
    check_endpoint(model, base_url, option)
    return HttpUpstream(model.name, base_url, model.key_env, sees=model.sees, force=model.force)


def make_costs(config: RunConfig) -> Costs:
    """The prices of the run's models; UsageError when a budget in USD has no price to be counted by."""
    models = models_of(config)
    costs = Costs({role: find_price(model.name, config.prices) for role, model in models.items()})
    if (config.max_cost is not None or config.limits.cost) and not costs.known:
        missing = next(models[role].name for role, price in costs.prices.items() if price is None)
        raise UsageError(f"no price of {missing!r} is known to count a cost by: give --prices FILE")
    return costs


def models_of(config: RunConfig) -> dict[Role, ModelConfig]:
    """The models of a run by what they are in it."""
    return {"agent": config.model, **({"eyes": config.eyes} if config.eyes else {})}


def prices_of(config: RunConfig, costs: Costs) -> dict[str, Price]:
    """The prices that a run is counted by, those of its models by name: recorded, for when it goes on."""
    models = models_of(config)
    return {**config.prices, **{models[role].name: price for role, price in costs.prices.items() if price}}


def with_space(model: ModelConfig) -> ModelConfig:
    """The model with the space of its boxes settled."""
    return model.model_copy(update={"space": model.space or space_of(model.name)})


def check_endpoint(model: ModelConfig, base_url: str, option: str) -> None:
    """Ask the server for its models. A server that has no such list is taken at its word."""
    names = [str(entry.get("id")) for entry in listed(asked_as(model, base_url), option) or []]
    if names and model.name not in names:
        some = ", ".join(names[:10])
        shown = public_url(endpoint(base_url, ""))
        raise UsageError(f"unknown model {model.name!r}: {shown} serves {some}")


def asked_as(model: ModelConfig, base_url: str) -> Model:
    """A model as we ask it ourselves."""
    return Model(model.name, base_url, model.key_env, model.force)


def try_models(config: RunConfig, *, uses_tools: bool) -> dict[Role, list[Ability]]:
    """What each served model of the run can do of what the run needs; UsageError for what it refuses."""
    found: dict[Role, list[Ability]] = {}
    counts = bool(config.limits.tokens or config.limits.cost or config.max_cost is not None)
    for role, model in models_of(config).items():
        url = model.base_url or os.environ.get("OPENAI_BASE_URL")
        if model.name.startswith("builtin/") or url is None:
            continue
        is_agent = role == "agent"
        pictures = (2 if uses_tools or not is_agent else 1) if model.sees else 0
        found[role] = try_model(
            asked_as(model, url), secrets.randbelow(10**6),
            tools=is_agent and uses_tools, pictures=pictures, counts=counts,
        )  # fmt: skip
    return found
