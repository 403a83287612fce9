"""What long commands show: a live line on a terminal, plain lines elsewhere, a table at the end."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from relynx.mining.patterns.pattern_set import PatternSet
from relynx.mining.report import Progress

LINE_EVERY = 5.0  # seconds, where there is no terminal
MEGABYTE = 1_000_000
GAP = 2  # cells between two columns of a table
SHORTEST = 16  # cells that a text in a table has at least, if it is so long
STOPPING = b"\nstopping; what is found is kept, unless you press Ctrl-C again\n"


@dataclass
class MiningProgress:
    """What to give to `mine(progress=...)`: shows how far a search is, and may end it."""

    show: Callable[[Progress], None]
    stopped: bool = False

    def __call__(self, progress: Progress) -> bool:
        self.show(progress)
        return not self.stopped


@contextmanager
def mining_progress(console: Console | None = None) -> Iterator[MiningProgress]:
    """Show how far a search is; the first Ctrl-C ends it and keeps what is found."""
    console = console or Console(stderr=True)
    if not console.is_terminal:
        with _stopped_by_ctrl_c(_in_lines(console)) as progress:
            yield progress
        return
    with (
        console.status("reading") as status,
        _stopped_by_ctrl_c(lambda p: status.update(progress_text(p))) as progress,
    ):
        yield progress


@contextmanager
def _stopped_by_ctrl_c(show: Callable[[Progress], None]) -> Iterator[MiningProgress]:
    progress, before = MiningProgress(show), signal.getsignal(signal.SIGINT)

    def stop(number: int, frame: FrameType | None) -> None:
        progress.stopped = True
        signal.signal(signal.SIGINT, before)
        os.write(2, STOPPING)  # print may be what the signal interrupted

    # Only the main thread gets signals, and a shell may have told the process to ignore this one.
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield progress
        return
    signal.signal(signal.SIGINT, stop)
    try:
        yield progress
    finally:
        signal.signal(signal.SIGINT, before)


def _in_lines(console: Console) -> Callable[[Progress], None]:
    """Prints a line when the search reaches another length, and every few seconds."""
    last = (-1, 0.0)  # length and time

    def show(progress: Progress) -> None:
        nonlocal last
        if progress.length != last[0] or progress.seconds - last[1] >= LINE_EVERY:
            console.print(progress_text(progress), highlight=False, soft_wrap=True)
            last = progress.length, progress.seconds

    return show


def progress_text(progress: Progress) -> str:
    """Length, patterns, patterns per second, memory and time in one line."""
    rate = progress.patterns / progress.seconds if progress.seconds > 0 else 0.0
    return (
        f"length {progress.length}: {progress.patterns:,} patterns, {rate:,.0f}/s, "
        f"{progress.memory / MEGABYTE:,.0f} MB, {progress.seconds:.1f} s"
    )


def show_search(patterns: PatternSet) -> None:
    """The search as a table, a row a length, and the nearest thresholds where it found nothing."""
    console = Console(highlight=False)
    cut = ["min_frequency", "min_support", "constraints", "repeated"]
    rows: list[list[str]] = []
    lengths = patterns.lengths
    for level in patterns.report.levels:
        numbers = (
            level.occurred,
            -level.infrequent,
            -level.unsupported,
            -level.forbidden,
            -level.repeated,
            level.kept,
            int((lengths == level.length).sum()),
        )
        rows.append([str(level.length), *(f"{n:,}" for n in numbers)])
    show_table(["length", "occurred", *cut, "kept", "answer"], rows, console=console)
    if not len(patterns):
        console.print(patterns.explain_search(), highlight=False, soft_wrap=True)


@contextmanager
def steps(
    title: str, total: int, console: Console | None = None
) -> Iterator[Callable[[str], object]]:
    """Show how many of some steps are done: call the value with a word about each."""
    console = console or Console(stderr=True)
    done, last = 0, -LINE_EVERY

    def line(text: str) -> None:
        nonlocal done, last
        done += 1
        now = time.monotonic()
        if done == total or now - last >= LINE_EVERY:
            console.print(f"{title}: {done} of {total}, {text}", highlight=False, soft_wrap=True)
            last = now

    if not console.is_terminal:
        yield line
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Bar(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda text: bar.update(task, advance=1, description=f"{title}: {text}")


@contextmanager
def working(title: str, console: Console | None = None) -> Iterator[None]:
    """Show that something goes on: the time that it takes on a terminal, elsewhere one line."""
    console = console or Console(stderr=True)
    if not console.is_terminal:
        console.print(title, highlight=False, soft_wrap=True)
        yield
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Bar(*columns, console=console, transient=True) as bar:
        bar.add_task(title, total=None)
        yield


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Print warnings of the block as what they say, once, without the place in the code."""
    console, told = Console(stderr=True), set[str]()
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)

        def show(message: Warning | str, *place: object, **more: object) -> None:
            text = f"warning: {message}"
            if text not in told:
                console.print(text, highlight=False, soft_wrap=True, markup=False)
            told.add(text)

        warnings.showwarning = show
        yield


def show_table(
    header: list[str],
    rows: list[list[str]],
    *,
    texts: int = 1,
    title: str = "",
    console: Console | None = None,
) -> None:
    """A table whose first columns are texts, shortened where they do not fit on the screen; all
    others are numbers, aligned on the right. A narrower terminal breaks the lines, but loses no
    digits."""
    console = console or Console(highlight=False)
    table = Table(box=None, header_style="bold", pad_edge=False, title=title, title_justify="left")
    widths = [max(map(cell_len, column)) + GAP for column in zip(header, *rows, strict=True)]
    room = max((console.width + GAP - sum(widths[texts:])) // texts - GAP, SHORTEST)
    if sum(widths) - GAP > console.width:
        header, *rows = [
            [shortened_to(text, room) if i < texts else text for i, text in enumerate(row)]
            for row in (header, *rows)
        ]
    for i, name in enumerate(header):
        table.add_column(Text(name), justify="left" if i < texts else "right", no_wrap=True)
    for row in rows:
        table.add_row(*map(Text, row))
    least = sum(min(width, room + GAP) if i < texts else width for i, width in enumerate(widths))
    console.width = max(console.width, least)
    console.print(table)


def fits(header: list[str], rows: list[list[str]]) -> bool:
    """Whether a table fits on the screen with all its text."""
    widths = [max(map(cell_len, column)) + GAP for column in zip(header, *rows, strict=True)]
    return sum(widths) - GAP <= Console().width


def shortened_to(text: str, width: int) -> str:
    """The beginning and the end of a text that is wider than so many cells."""
    if cell_len(text) <= width:
        return text
    tail = (width - 1) // 3
    end = set_cell_size(text[::-1], tail)[::-1]
    return f"{set_cell_size(text, width - 1 - tail).rstrip()}…{end.lstrip()}"
