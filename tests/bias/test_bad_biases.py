"""Every file of golden/bad_bias is wrong, and its whole message is the text beside it."""

from pathlib import Path

import pytest
from golden_texts import compare, told
from paths import GOLDEN

from relynx.bias import read_bias
from relynx.errors import InputError

BAD = GOLDEN / "bad_bias"
FILES = sorted(path.name for path in BAD.glob("*.l"))


@pytest.mark.parametrize("name", FILES)
def test_a_bad_bias_gets_its_whole_message(name, monkeypatch):
    monkeypatch.chdir(BAD)
    with pytest.raises(InputError) as caught:
        read_bias(name)
    compare(told(caught.value), BAD / f"{Path(name).stem}.txt")


def test_every_expected_message_has_its_file():
    assert {Path(name).stem for name in FILES} == {path.stem for path in BAD.glob("*.txt")}
    assert len(FILES) >= 50
