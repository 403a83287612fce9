"""The command line: `main` runs it and returns the exit code.

0 is success, 2 an error of the user (a message, no traceback), 1 an error of relynx, 130 an
interrupt. `files`, `learning` and `shows` have the commands, `options` what they share,
also the one way in which they read sequences. Commands import the library when they run, so that
`relynx --help` stays fast.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence

import click

from relynx.cli.evaluation import evaluate
from relynx.cli.files import check, mine
from relynx.cli.learning import explain, fit, predict, report
from relynx.cli.options import INTERRUPTED
from relynx.cli.shows import demo, reproduce, warmup
from relynx.errors import InputError
from relynx.version import __version__


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="relynx", message="%(prog)s %(version)s")
def relynx() -> None:
    """Learn to classify relational sequences, and say why."""


for command in (check, demo, evaluate, explain, fit, mine, predict, report, reproduce, warmup):
    relynx.add_command(command)


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        code = relynx.main(args=args, prog_name="relynx", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except InputError as error:
        click.echo(str(error), err=True)
        return 2
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped", err=True)
        return INTERRUPTED
    except Exception:
        traceback.print_exc()
        click.echo("this is a fault of relynx, not of your input: please report it", err=True)
        return 1
