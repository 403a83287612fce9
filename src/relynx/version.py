"""The version of relynx; it is below every other module, since files and checkpoints name it."""

__version__ = "0.1.0"
