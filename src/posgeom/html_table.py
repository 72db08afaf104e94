"""Result objects as small HTML tables, for notebooks; every text is escaped by the library that writes it."""

from collections.abc import Sequence
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from posgeom.messages import printable

UNDEFINED = "undefined"


def html_table(caption: str, headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table as HTML.

    Parameters
    ----------
    caption : str
    headings : sequence of str
    rows : sequence of sequence
        Texts, numbers, and None for what is undefined.

    Returns
    -------
    str
    """
    table = Element("table")
    SubElement(table, "caption").text = printable(caption)
    head = SubElement(SubElement(table, "thead"), "tr")
    for heading in headings:
        SubElement(head, "th").text = printable(heading)
    body = SubElement(table, "tbody")
    for row in rows:
        line = SubElement(body, "tr")
        for value in row:
            SubElement(line, "td").text = _text(value)
    return tostring(table, encoding="unicode", method="html")


def _text(value: Any) -> str:
    if value is None:
        return UNDEFINED
    return f"{value:.4g}" if isinstance(value, float) else printable(str(value))
