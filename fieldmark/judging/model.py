"""A model that judges or classifies: asked through the `openai` SDK, and again as the gateway asks again."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from fieldmark.doctor.asking import Model, text_of
from fieldmark.doctor.server import listed
from fieldmark.errors import ModelFault, UsageError
from fieldmark.evals.judges.base import JudgingOver, ServerDown, Unjudged
from fieldmark.model_config import AskedConfig
from fieldmark.sandbox.gateway.endpoint import endpoint, public_url
from fieldmark.sandbox.gateway.upstream import BACK_OFF, TRIES
from fieldmark.sandbox.gateway.upstream_errors import Again, ServerError
from fieldmark.sandbox.gateway.wire import chat
from fieldmark.trace import Tokens

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI
    from openai.types.chat import ChatCompletion
    from tenacity import RetryCallState
    from tenacity.wait import wait_base

SECONDS = 300.0
"""What one request may take; a model that thinks takes its time."""
Messages = list[dict[str, Any]]


@dataclass(frozen=True)
class Asked:
    """What a model is asked for: `purpose`, told to its server, and the options that a user gives for it.

    `wanted` is the option that makes it needed; `prefix` stands before `temperature` and `seed`.
    """

    purpose: str
    wanted: str
    model: str
    url: str
    prefix: str


TO_JUDGE = Asked("judge", "--judge llm", "--judge-model", "--judge-url", "--judge-")
TO_CLASSIFY = Asked("classifier", "--model", "--model", "--base-url", "--")
TO_TYPE = Asked("typer", "--model", "--model", "--base-url", "--")


@dataclass(frozen=True)
class AskedModel:
    """`name` at `base_url`, in any usual spelling; the key stays in its variable."""

    name: str
    base_url: str
    key_env: str
    asked: Asked
    back_off: wait_base = BACK_OFF

    @classmethod
    def of(cls, name: str, settings: AskedConfig, asked: Asked) -> AskedModel:
        """UsageError without a usable URL."""
        url = settings.base_url or os.environ.get("OPENAI_BASE_URL")
        if not url:
            raise UsageError(f"{asked.wanted} needs {asked.url}, an OpenAI-compatible server")
        if urlsplit(url).scheme not in ("http", "https"):
            raise UsageError(f"{asked.url} {url!r} is not an http:// or https:// URL")
        return cls(name, url, settings.key_env, asked)

    @property
    def shown(self) -> str:
        return public_url(endpoint(self.base_url, chat.PATH))

    def check(self) -> None:
        """UsageError when its server is not there, or serves a list of models without this one."""
        found = listed(Model(self.name, self.base_url, self.key_env, {}), self.asked.url) or []
        names = [str(entry.get("id")) for entry in found]
        if names and self.name not in names:
            some = ", ".join(names[:10])
            shown = public_url(endpoint(self.base_url, ""))
            raise UsageError(f"unknown {self.asked.model} {self.name!r}: {shown} serves {some}")

    def ask(
        self, messages: Messages, temperature: float | None, seed: int | None
    ) -> tuple[str, Tokens | None]:
        """The text of a reply, "" where it has none, and its usage; what is None is not sent. Unjudged when
        the server refuses these messages; ServerDown when it does not answer; JudgingOver when it has no
        quota, or refuses the key, the temperature or the seed.
        """
        from tenacity import Retrying, retry_if_exception_type, stop_after_attempt

        again = retry_if_exception_type(Again)
        tries = Retrying(stop=stop_after_attempt(TRIES), wait=self._wait, retry=again, reraise=True)
        sampling = {"temperature": temperature, "seed": seed}
        sent = {name: value for name, value in sampling.items() if value is not None}
        try:
            reply = tries(self._try, messages, sent)
            return text_of(reply), chat.tokens_of(reply.model_dump(warnings=False).get("usage"))
        except Again as error:
            raise ServerDown(f"{self.shown}: {error} ({TRIES} tries)") from None
        except ModelFault as fault:
            raise JudgingOver(str(fault)) from None

    def _try(self, messages: Messages, sampling: dict[str, float]) -> ChatCompletion:
        import openai

        try:
            return self._client.chat.completions.create(
                model=self.name,
                messages=messages,  # type: ignore[arg-type]
                extra_body=sampling,
            )
        except openai.APIStatusError as error:
            raise self._refusal(error, sampling) from None
        except (openai.APIConnectionError, openai.APIResponseValidationError, ValueError) as error:
            raise Again(f"{type(error).__name__}: {error}"[:300]) from None

    def _refusal(self, error: APIStatusError, sampling: dict[str, float]) -> Exception:
        reply = error.response
        fault = ServerError(
            reply.status_code, self.shown, chat.PATH, reply.headers, reply.content, [*sampling]
        )  # fmt: skip
        try:
            fault.judge()
        except Again as found:
            return found
        except ModelFault as found:
            if found.kind == "forced":
                name = fault.refused
                return JudgingOver(f"{self.shown} takes no {name}: add {self.asked.prefix}{name} none")
            return found
        return Unjudged(f"{self.shown} answered {reply.status_code}: {error.message}"[:300])

    def _wait(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        after = error.after if isinstance(error, Again) else None
        return after if after is not None else self.back_off(state)

    @cached_property
    def _client(self) -> OpenAI:
        import openai

        url = urlsplit(endpoint(self.base_url, ""))
        return openai.OpenAI(
            base_url=url._replace(query="").geturl(), default_query=dict(parse_qsl(url.query)),
            api_key=os.environ.get(self.key_env) or "none", timeout=SECONDS, max_retries=0,
            default_headers={"x-fieldmark-purpose": self.asked.purpose},
        )  # fmt: skip
