"""Whether a model's server speaks the wire format of an agent: the gateway translates none into another."""

from __future__ import annotations

import os

from fieldmark.doctor.asking import PURPOSE
from fieldmark.errors import UsageError
from fieldmark.model_config import ModelConfig
from fieldmark.needs import Wire
from fieldmark.sandbox.gateway.endpoint import endpoint, public_url

PATHS: dict[Wire, str] = {"responses": "/responses", "messages": "/messages"}


def check_wire(wire: Wire, agent: str, model: ModelConfig) -> None:
    """Ask for nothing, which costs nothing: who knows the route refuses it, who does not says 404."""
    base_url = model.base_url or os.environ.get("OPENAI_BASE_URL")
    if wire not in PATHS or model.name.startswith("builtin/") or not base_url:
        return
    import openai

    url = endpoint(base_url, "").partition("?")[0]
    key = os.environ.get(model.key_env) or "none"
    client = openai.OpenAI(base_url=url, api_key=key, timeout=15.0, max_retries=0)
    try:
        client.post(PATHS[wire], body={"model": model.name}, cast_to=object, options={"headers": PURPOSE})
    except openai.APIStatusError as error:
        if (
            error.status_code in (404, 405) and "model" not in str(error).lower()
        ):  # that would be of the model
            raise UsageError(
                f"agent {agent} speaks the {wire} format and {public_url(url)} has no {PATHS[wire]}: take a "
                "model server that has, or another agent"
            ) from None
    except openai.OpenAIError:  # it is asked whether it answers at all elsewhere
        return
