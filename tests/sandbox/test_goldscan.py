"""Gold answers planted in a real image are found, and the clean image has none."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from fieldmark.sandbox import engine, goldscan, image
from fieldmark.sandbox.goldscan import Hit, Phrases

if TYPE_CHECKING:
    from docker import DockerClient

GOLD = ["Boeing 737-8 MAX", "mandrill", "Tower of Buddhist Incense", "Espresso", "佛香阁"]
PLANTED = "fieldmark-planted:test"
LONG = b"." * (goldscan.CHUNK_BYTES - 10)


@pytest.fixture(scope="module")
def client() -> Iterator[DockerClient]:
    client = engine.connect()
    image.build(client, print)
    yield client
    client.close()


@pytest.fixture(scope="module")
def planted(client: DockerClient) -> Iterator[str]:
    """Gold as a file's content, across a chunk's edge, as a name, and in a public file that was changed."""
    files = {
        "Dockerfile": f"FROM {image.tag()}\nCOPY plant/ /\n".encode(),
        "plant/opt/notes.txt": "It is the ＴＯＷＥＲ of Buddhist\nincense, 佛香阁.".encode(),
        "plant/opt/long.bin": LONG + b" boeing 737-8 max \xff",
        "plant/srv/Espresso_01.jpg": b"\xff\xd8",
        "plant/usr/share/common-licenses/BSD": b"a mandrill",
    }
    context = io.BytesIO()
    with tarfile.open(fileobj=context, mode="w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    context.seek(0)
    client.images.build(fileobj=context, custom_context=True, tag=PLANTED, rm=True)
    yield PLANTED
    client.images.remove(PLANTED)


def test_a_clean_image_has_no_hit(client: DockerClient) -> None:
    assert goldscan.scan(client, image.tag(), GOLD) == []


def test_planted_answers_are_found_in_content_and_names(client: DockerClient, planted: str) -> None:
    assert goldscan.scan(client, planted, GOLD) == [
        Hit("opt/long.bin", "Boeing 737-8 MAX", "content"),
        Hit("opt/notes.txt", "Tower of Buddhist Incense", "content"),
        Hit("opt/notes.txt", "佛香阁", "content"),
        Hit("srv/Espresso_01.jpg", "Espresso", "name"),
        Hit("usr/share/common-licenses/BSD", "mandrill", "content"),
    ]


def test_nothing_is_left_behind(client: DockerClient) -> None:
    assert client.containers.list(all=True, filters={"label": "fieldmark=goldscan"}) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("an ESPRESSO!", {"Espresso"}),
        ("espressos", set()),
        ("boeing_737-8_max.jpg", {"Boeing 737-8 MAX"}),
        ("Boeing 737-8 MAXIMUM", set()),
        ("这是佛香阁的照片", {"佛香阁"}),
        ("", set()),
    ],
)
def test_a_phrase_is_whole_words_in_any_case(text: str, found: set[str]) -> None:
    assert Phrases([*GOLD, "", "--"]).within(text) == found
