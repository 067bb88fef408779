"""A container that is removed is gone, whoever began to remove it."""

from __future__ import annotations

import threading
import time
from typing import Any

import docker

from fieldmark.sandbox.reaper import remove


def test_one_that_the_engine_is_removing_already_is_waited_for(engine: Any, sandbox_image: str) -> None:
    host = engine.api.create_host_config(auto_remove=True)
    made = engine.api.create_container(
        sandbox_image, ["sleep", "100"], host_config=host, network_disabled=True
    )
    engine.api.start(made["Id"])
    other = docker.from_env()
    first = threading.Thread(target=other.api.remove_container, args=(made["Id"],), kwargs={"force": True})
    first.start()
    time.sleep(0.02)  # the engine takes some tenths of a second
    remove(engine, made["Id"])
    left = {row["Id"] for row in engine.api.containers(all=True)}
    first.join()
    other.close()
    assert made["Id"] not in left
