"""Every file of golden/bad_bias is wrong, and its whole message is the text beside it."""

from golden_texts import refusals

from relynx.bias import read_bias

test_a_bad_bias_gets_its_whole_message = refusals("bad_bias", read_bias)
