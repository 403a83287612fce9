"""Labelled sequences of structured events, and the doors through which they come in.

`sequences` is the container, `vocabulary` its constants. Each way in or out has a room or a module
of its own, which imports the container and is not imported by it; a writer that is a method of the
container registers itself there, and is loaded here.
"""

import relynx.data.parquet.writer  # noqa: F401
