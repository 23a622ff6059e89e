"""Writes reports of checks in JUnit's XML, which CI systems read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.lean.records import Frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

SUITE = "holdfast check"


class Case(Frozen):
    """One check: it passed, it failed with a message and details, or it could not be read."""

    group: str
    name: str
    file: str = ""
    failure: str = ""
    details: str = ""
    error: str = ""


def write_junit(target: str, cases: Sequence[Case]) -> None:
    """Write the report to the file. Raises OSError."""
    from xml.etree import ElementTree

    counts = {
        "tests": str(len(cases)), "failures": str(sum(bool(case.failure) for case in cases)),
        "errors": str(sum(bool(case.error) for case in cases)), "skipped": "0",
    }  # fmt: skip
    suites = ElementTree.Element("testsuites", {"name": SUITE, **counts})
    suite = ElementTree.SubElement(suites, "testsuite", {"name": SUITE, **counts})
    for case in cases:
        where = {"classname": _in_xml(case.group), "name": _in_xml(case.name)}
        element = ElementTree.SubElement(suite, "testcase", where | ({"file": _in_xml(case.file)} if case.file else {}))
        if case.failure:
            failure = ElementTree.SubElement(element, "failure", {"message": _in_xml(case.failure)})
            failure.text = _in_xml(case.details)
        if case.error:
            ElementTree.SubElement(element, "error", {"message": _in_xml(case.error)})
    ElementTree.indent(suites)
    ElementTree.ElementTree(suites).write(target, encoding="utf-8", xml_declaration=True)


def _in_xml(text: str) -> str:
    """Return the text with U+FFFD for every character that XML cannot hold."""
    return "".join(
        char if char in "\t\n\r" or " " <= char <= "\ud7ff" or "\ue000" <= char <= "\ufffd" or char >= "\U00010000"
        else "\ufffd"
        for char in text
    )  # fmt: skip
