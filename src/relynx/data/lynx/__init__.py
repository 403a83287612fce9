"""Files of the original Lynx program: `begin(Id,Class). ... end.`

`files` has the doors, `read_lynx` and `write_lynx`; `reader` parses the facts.
"""
