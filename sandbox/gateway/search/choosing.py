"""What searches in a run, from its options: known to work before the run spends anything."""

from __future__ import annotations

import re
from pathlib import Path

from fieldmark.config import RunConfig
from fieldmark.errors import UsageError
from fieldmark.sandbox.gateway.search.asking import LENS, SEARCH
from fieldmark.sandbox.gateway.search.door import SITE, SearchDoor
from fieldmark.sandbox.gateway.search.engines import PICTURE_ENGINES
from fieldmark.sandbox.gateway.search.pages import SitePages
from fieldmark.sandbox.gateway.search.serpapi import SearchFailed, SerpApi
from fieldmark.sandbox.gateway.web.door import GOES_OUT, WebDoor

_SERPAPI = re.compile(r"serpapi(?::([a-z0-9_]+))?")
_GO_OUT = "add --web live, or --web record with --web-archive; --web replay takes recorded ones"


def make_search(config: RunConfig, web: WebDoor | None, index: Path | None) -> SearchDoor | None:
    """The run's searches by words and by Lens; None when it has neither. UsageError."""
    engine = _engine(config.search, web)
    lens = _lens(config, web, index)
    if web is None or (engine is None and not lens):
        return None
    sends = web.mode in GOES_OUT and (lens or engine not in (None, SITE))
    api = _known_to_work(SerpApi.from_environment(config.serpapi_key_env)) if sends else None
    pages = SitePages(web.site) if engine == SITE and web.site is not None else None
    return SearchDoor(web, engine=engine, pages=pages, lens=lens, api=api)


def named_engine(asked: str) -> str:
    """`site`, or the engine of `serpapi` (google) or `serpapi:ENGINE`. UsageError for anything else."""
    found = _SERPAPI.fullmatch(asked)
    if asked != SITE and not found:
        raise UsageError(f"--search {asked}: take site, serpapi (Google) or serpapi:ENGINE, as serpapi:baidu")
    engine = SITE if found is None else found[1] or "google"
    if engine in PICTURE_ENGINES:
        raise UsageError(f"--search {asked} is asked with a picture: take --reverse serpapi for that")
    return engine


def _engine(asked: str | None, web: WebDoor | None) -> str | None:
    """What answers `web_search`; when nothing is said: the site, else what the archive has recorded."""
    if asked is None:
        return SITE if web is not None and web.site is not None else _only_recorded(web)
    engine = named_engine(asked)
    if engine == SITE:
        if web is None or web.site is None:
            raise UsageError("--search site needs pages: name --site DIR, or leave --search out")
    elif web is None:
        raise UsageError(f"--search {asked} sends searches out: {_GO_OUT}")
    elif web.mode not in GOES_OUT and engine not in _recorded(web):
        raise UsageError(f"this run sends nothing out and has no recorded searches of {engine}: {_GO_OUT}")
    return engine


def _only_recorded(web: WebDoor | None) -> str | None:
    engines = _recorded(web) if web is not None and web.mode not in GOES_OUT else []
    if len(engines) > 1:
        raise UsageError(f"the archive has searches of {', '.join(engines)}: say --search serpapi:ENGINE")
    return engines[0] if engines else None


def _recorded(web: WebDoor) -> list[str]:
    """The engines whose searches the archive has."""
    urls = web.archive.urls(SEARCH) if web.archive is not None else []
    return sorted({found[1] for url in urls if (found := re.search(r"[?&]engine=([a-z0-9_]+)", url))})


def _lens(config: RunConfig, web: WebDoor | None, index: Path | None) -> bool:
    """Whether Google Lens answers `reverse_image_search`; by itself only where it was recorded."""
    replays = web is not None and web.mode not in GOES_OUT and web.archive is not None
    recorded = bool(replays and web is not None and web.archive is not None and web.archive.urls(LENS))
    if config.reverse is None:
        return index is None and recorded
    if config.reverse == "local":
        if index is None:
            raise UsageError("--reverse local needs a picture index: name --index DIR")
        return False
    if web is None or (web.mode not in GOES_OUT and not recorded):
        raise UsageError(f"--reverse serpapi sends searches out: {_GO_OUT}")
    if web.mode in GOES_OUT and not config.allow_upload:
        raise UsageError(
            "--reverse serpapi sends the task pictures to SerpApi and Google: say --allow-upload if they may "
            "be sent, or take --reverse local"
        )
    return True


def _known_to_work(api: SerpApi) -> SerpApi:
    """Ask for the account, which is free; UsageError when its key is refused or no search is left."""
    try:
        left = api.searches_left()
    except SearchFailed as failure:
        raise UsageError(f"SerpApi cannot be used: {failure}") from None
    if left is not None and left <= 0:
        raise UsageError("no search is left on the SerpApi account: renew it, or take --search site")
    return api
