"""The pages are complete: each is in the table of contents, each public name in the reference."""

import re
import shlex
from pathlib import Path

from paths import ROOT

import relynx as rx
from relynx import cli

DOCS = ROOT / "docs"
PAGES = sorted(
    path
    for path in DOCS.rglob("*.md")
    if not {"_build", "gallery"} & set(path.relative_to(DOCS).parts) and path.name != "index.md"
)


def test_every_page_is_in_the_table_of_contents():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    trees = re.findall(r"```\{toctree\}\n(.*?)```", index, re.DOTALL)
    listed = {line for tree in trees for line in tree.splitlines() if line and line[0] != ":"}
    assert listed == {str(page.relative_to(DOCS).with_suffix("")) for page in PAGES} | {
        "gallery/index"
    }


def test_every_public_name_is_in_the_reference():
    text = (DOCS / "reference.md").read_text(encoding="utf-8")
    told = re.findall(
        r"^\.\. auto(?:class|function):: relynx\.(?:plots\.)?(\w+)$", text, re.MULTILINE
    )
    assert sorted(told) == sorted(rx.__all__)


def test_every_link_between_pages_leads_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+\.md)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).resolve().exists(), f"{page.name}: {target}"


def test_the_commands_of_the_page_on_migrating_work(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rx.write_lynx(rx.planted_rule(60, random_state=0)[0], "toy.m")
    rx.write_lynx(rx.planted_rule(20, random_state=1)[0], "test.val")
    Path("toy.bk").write_text("done(E,A) :- do(E,A,_).\n")
    Path("toy.l").write_text(
        "type(do(e,action,object)). mode(do(+,#,+)). values(action,[a0,a1]). dimension(next_s).\n"
        ":- set_lynx_flag('$maxsize',2).\n"
    )
    page = (DOCS / "migrating.md").read_text(encoding="utf-8")
    commands = re.findall(r"`relynx ([a-z]+ [^`]*toy\.[^`]*)`", page)
    assert [command.split()[0] for command in commands] == [
        "fit",
        "predict",
        "mine",
        "check",
        "evaluate",
    ]
    for command in commands:
        assert cli.main(shlex.split(command)) == 0, capsys.readouterr()
