"""The commands on the page about classification print what the page says."""

import re
import shlex
from pathlib import Path

from paths import ROOT

import relynx as rx
from relynx import cli

PAGE = ROOT / "docs" / "classify.md"


def test_the_commands_print_what_the_page_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text()
    rx.write_lynx(rx.planted_rule(200, flip=0.05, random_state=0)[0], "train.m")
    rx.write_lynx(rx.planted_rule(400, random_state=1)[0], "test.m")
    Path("train.l").write_text(re.search(r"```text\n(.*?)```", page, re.DOTALL)[1])
    blocks = re.findall(r"```console\n\$ relynx (.*?)\n(.*?)```", page, re.DOTALL)
    assert [command.split()[0] for command, _ in blocks] == ["fit", "predict", "evaluate"]
    for command, output in blocks:
        assert cli.main(shlex.split(command)) == 0
        assert capsys.readouterr().out == output
