"""The `fieldmark` command. Each subcommand is a file in `commands/`, imported only when it is called."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from importlib.util import find_spec

import click

from fieldmark import __version__
from fieldmark.errors import FieldmarkError, UsageError

COMMANDS = {
    "classify": "Say why each answer that is not correct was wrong.",
    "compare": "Compare runs over the same tasks, pair by pair.",
    "demo": "Run the bundled smoke benchmark on the embedded default and show the table.",
    "run": "Run an agent over a benchmark, in Docker sandboxes.",
    "curate": "Make the next benchmark: screen, audit, freeze candidates.",
    "data": "Look at the data of a benchmark before a run.",
    "doctor": "Check this machine, and what a model can do.",
    "exam": "Examine a person in the browser: a run like any other.",
    "export": "Write a run for other programs, or what of it may be published.",
    "fork": "Run a recorded episode again from an event on, with one thing changed.",
    "index": "Build a picture index over a folder, and search in it.",
    "judge": "Judge a run, or judge it again, without running it.",
    "label": "Say why a sample of the wrong answers was wrong; how far persons and classifier agree.",
    "mcp": "Serve the tools to an MCP client over stdin and stdout.",
    "memory": "List the notes that episodes left, and every answer that read them.",
    "new": "Write a working agent, tool, skill or benchmark to begin with.",
    "power": "Say how large an improvement a comparison could find.",
    "registry": "Import aircraft registries into one file, and look aircraft up.",
    "report": "Print the tables of one or more runs and write report.html.",
    "sandbox": "Build, check, clean, save or load the sandbox image.",
    "show": "Show one episode: what became of it, and its events.",
    "skills": "List the skills, or check a folder of them.",
    "sql": "Ask the tables of one or more runs by SQL.",
    "tool": "Call one tool, or list them.",
    "view": "Look at runs, episodes and traces in a browser.",
}
"""Name → short help. Inside a container only the commands whose file is in the image are there."""


GARBAGE = 50_000
"""New objects between two collections. Imports make many and hardly any garbage: Python's 700 cost `run` a
sixth of its start.
"""


class LazyGroup(click.Group):
    """A group that knows its commands without importing them, so that `--version` is instant."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in COMMANDS if find_spec(f"fieldmark.commands.{name}")]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command = importlib.import_module(f"fieldmark.commands.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name]) for name in self.list_commands(ctx)])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="fieldmark")
def cli() -> None:
    """Tool-using recognition agents in Docker sandboxes: run them, record them, see why they fail.

    \b
    fieldmark demo
    fieldmark run --benchmark fieldmark-mini --agent react --model builtin/scout
    """


def main() -> None:
    """Exit code 0; 1 when it ran and something failed; 2 for bad usage or input. No traceback for users."""
    gc.set_threshold(GARBAGE)
    try:
        code = cli.main(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.Abort:
        _fail("stopped", 1)
    except click.ClickException as error:
        _fail(error.format_message(), 2)
    except UsageError as error:
        _fail(str(error), 2)
    except FieldmarkError as error:
        _fail(str(error), 1)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (PermissionError, IsADirectoryError, NotADirectoryError) as error:
        _fail(f"{error.filename}: {error.strerror}: give it back its kind and its rights", 2)
    except Exception as error:
        if os.environ.get("FIELDMARK_DEBUG"):
            raise
        _fail(
            f"a fault of fieldmark's own: {type(error).__name__}: {error} (FIELDMARK_DEBUG=1 shows where)", 1
        )


def _fail(message: str, code: int) -> None:
    from fieldmark.showing.visible import visible

    click.echo(visible(f"fieldmark: {' '.join(message.split())}"), err=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
