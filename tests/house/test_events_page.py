"""The commands on the page about tables print what the page says."""

import re
import shlex
import subprocess

from paths import ROOT

from relynx import cli

PAGE = ROOT / "docs" / "events.md"


def commands(text):
    """Each command of a block with the lines that it shows."""
    for part in re.split(r"^\$ ", text.replace(" \\\n", " "), flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output.splitlines()


def test_the_commands_print_what_the_page_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text()
    exec(re.search(r"```python\n(import csv.*?)```", page, re.DOTALL)[1], {})
    blocks = re.findall(r"```console\n(.*?)```", page, re.DOTALL)
    done = []
    for command, shown in (pair for block in blocks for pair in commands(block)):
        if command.startswith("relynx "):
            code = cli.main(shlex.split(command)[1:])
            out, err = capsys.readouterr()
            assert code == (2 if shown and "hint:" in shown[-1] else 0)
            printed = [*out.splitlines(), *err.splitlines()]
            assert [line for line in shown if line not in printed] == []
            done.append(command.split()[1])
        elif not command.startswith("pip"):
            subprocess.run(command, shell=True, check=True)
    assert {"check", "evaluate", "fit", "report", "predict"} <= set(done)
