"""The version, in the one place both the wheel and the program read."""

__version__ = "0.2.0"
