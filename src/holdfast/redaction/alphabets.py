"""The characters that secrets are written in, and how surely a name announces one."""

from __future__ import annotations

DIGITS = "0123456789"
HEX = DIGITS + "abcdefABCDEF"
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ALNUM = DIGITS + UPPER + UPPER.lower()
WORD = ALNUM + "_-"
DOTTED = WORD + "."
BASE64 = ALNUM + "+/="
WIDE = DOTTED + "+/=~%"

STRONG, MEDIUM, WEAK = 3, 2, 1
"""How surely a name's value is secret."""
