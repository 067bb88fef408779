"""Whether a model's server is there, and what it says of the model."""

from __future__ import annotations

from typing import Any

from fieldmark.doctor.abilities import Ability
from fieldmark.doctor.asking import Model
from fieldmark.errors import UsageError
from fieldmark.sandbox.gateway.endpoint import endpoint, public_url

LENGTHS = ("max_model_len", "context_length", "context_window", "max_context_length", "n_ctx")
"""Where servers say how many tokens a conversation may have: vLLM, OpenRouter, Groq, LM Studio, llama.cpp."""

LIST_SECONDS = 15.0


def examine_server(model: Model) -> list[Ability]:
    """Reached, lists the model, context length. UsageError when it cannot be reached or refuses the key."""
    entries = listed(model)
    if entries is None:
        return [Ability("server", True, model.shown), Ability("lists the model", None, "it has no list")]
    entry = next((entry for entry in entries if entry.get("id") == model.name), None)
    names = ", ".join(str(entry.get("id")) for entry in entries[:10])
    length = context_length(entry or {})
    said = "not said" if length is None else f"{length} tokens"
    return [
        Ability("server", True, model.shown),
        Ability("lists the model", entry is not None, "" if entry else f"it lists {names or 'none'}"),
        Ability("context length", None if length is None else True, said),
    ]


def listed(model: Model, option: str = "--base-url") -> list[dict[str, Any]] | None:
    """What the server lists; None where it has no list.

    UsageError, naming the `option` of its URL, when it cannot be reached; also when it refuses the key.
    """
    import openai

    where = public_url(endpoint(model.base_url, ""))
    client = model.client.with_options(timeout=LIST_SECONDS)
    try:
        return [entry.to_dict() for entry in client.models.list().data]
    except openai.AuthenticationError:
        raise UsageError(f"{where} refuses the key in ${model.key_env}: set it to a valid one") from None
    except openai.APIConnectionError as error:
        raise UsageError(_unreachable(where, str(error.__cause__ or error), option)) from None
    except (openai.OpenAIError, ValueError, TypeError, AttributeError):
        return None


def _unreachable(where: str, why: str, option: str) -> str:
    if "CERTIFICATE_VERIFY_FAILED" in why:
        return f"{where}: its certificate is not trusted ({why}): name the file of your CA in SSL_CERT_FILE"
    return f"no model server answers at {where} ({why}): start it or mend {option}"


def context_length(entry: dict[str, Any]) -> int | None:
    """Tokens that a conversation may have, as a row of the server's list says; None where it does not."""
    meta = entry.get("meta")
    for source in (entry, meta if isinstance(meta, dict) else {}):
        for name in LENGTHS:
            value = source.get(name)
            if isinstance(value, int) and value > 0:
                return value
    return None
