"""Makes the pictures of docs/inspect-a-failure.md anew: a real run in Docker, looked at in real Chromium.

    .venv/bin/python -m scripts.walk.pictures [--run FOLDER]

The model is a puppet that says what `hasty.py` tells it to; aircraft, tools, sandbox and judge are real.
After a change of what a page looks like, run it, look at the pictures, and commit them.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from docker import DockerClient
from PIL import Image
from starlette.applications import Starlette
from starlette.responses import FileResponse
from starlette.routing import Mount, Route

from benchmarks.failure_taxonomy import AGENTS, FIELDMARK, SHARED, puppet
from fieldmark.commands.view import GatewayRequests
from fieldmark.evals.inspector.app import make_app
from fieldmark.evals.inspector.library import Library
from fieldmark.rundir import RunDir
from fieldmark.sandbox import image
from fieldmark.sandbox.engine import connect
from tests.evals.inspector.browser import visit
from tests.model_server import ModelServer

HERE = Path(__file__).parent
PICTURES = HERE.parents[1] / "docs" / "pictures"
TASKS = "mini-27,mini-28,mini-29,mini-31,mini-33"
TASK = "mini-33"
COLOURS = 96
MOST = 150_000
"""Bytes of a picture."""
WALK = f"""
page = browser.new_page(viewport={{"width": 1180, "height": 680}})
def view(name, at=None):
    "As it stands, or from the first such part on."
    if at:
        page.locator(at).first.evaluate("part => part.scrollIntoView()")
    for image in page.locator("img").all():
        image.evaluate("image => (image.loading = 'eager', image.decode())")
    page.screenshot(path="/shots/" + name + ".png")
page.goto(base + "/")
page.click("text=planes")
page.select_option("select[name=verdict]", "incorrect")
page.click("text=Filter")
view("episodes")
page.click("text={TASK}")
view("episode")
view("timeline", at=".step.cited >> nth=0")
page.click("text=request 1")
view("request")
page.goto(base + "/report.html")
view("report", at="text=Why answers were wrong")
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--run", type=Path, help="The run, or where it is to be kept.")
    chosen = parser.parse_args().run
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = chosen or folder / "planes"
        engine = connect()
        built = image.build(engine, print)
        if not (run / "run.json").exists():
            make_run(run, folder)
        take(engine, built, run, folder)


def make_run(run: Path, folder: Path) -> None:
    """`fieldmark run`, `classify` and `report`, as a user calls them."""
    agent = folder / "hasty"
    agent.mkdir()
    shutil.copy(HERE / "hasty.py", agent / "agent.py")
    for name in SHARED:
        shutil.copy(AGENTS / name, agent)
    with ModelServer(puppet) as server:
        _fieldmark(
            "run", "--no-probe", "--agent", agent, "--model", "scripted", "--base-url", server.url,
            "--tasks", TASKS, "--parallel", 2, "--out", run,
        )  # fmt: skip
    _fieldmark("classify", run, "--no-llm")
    _fieldmark("report", run)


def take(engine: DockerClient, built: str, run: Path, folder: Path) -> None:
    """The pictures of the walk, small."""
    pages = make_app(Library([RunDir.open(run).path]), GatewayRequests(), {"127.0.0.1"}, None)
    report = Route("/report.html", lambda _: FileResponse(run / "report.html"))
    app = Starlette(routes=[report, Mount("/", pages)])
    visit(engine, built, app, folder / "browser", WALK)
    PICTURES.mkdir(exist_ok=True)
    for shot in sorted((folder / "browser" / "shots").glob("*.png")):
        small = PICTURES / shot.name
        with Image.open(shot) as taken:
            taken.convert("RGB").quantize(COLOURS).save(small, optimize=True)
        size = small.stat().st_size
        print(f"{small.name}: {size // 1000} kB")
        if size > MOST:
            sys.exit(f"{small.name} has more than {MOST // 1000} kB")


def _fieldmark(*arguments: object) -> None:
    subprocess.run([FIELDMARK, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
