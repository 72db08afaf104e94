import re
from xml.etree.ElementTree import fromstring

from posgeom.analysis import analyze
from posgeom.simulation.synthetic import synthetic
from posgeom.tables import Table


def test_everything_is_text() -> None:
    html = Table.of(
        "<script>alert(1)</script>", ["a&b"], [["<img src=x onerror=alert(1)>"], [None], [0.123456], [3], ["\x1b[2J"]]
    ).to_html()
    table = fromstring(html)
    assert [element.tag for element in table.iter()].count("script") == 0
    assert table.findtext("caption") == "<script>alert(1)</script>"
    assert [cell.text for cell in table.iter("td")] == [
        "<img src=x onerror=alert(1)>",
        "undefined",
        "0.1235",
        "3",
        "\\x1b[2J",
    ]


def test_results_show_themselves_in_a_notebook() -> None:
    analysis = analyze(synthetic().counts, n_dims=8, ranks=[2])
    for shown in (analysis.geometry, analysis.scorecard):
        assert shown._repr_html_().startswith("<table>")
    assert re.match("<ul><li>[0-9]+%.* of the mean squared Hellinger distance", analysis._repr_html_())
    assert analysis._repr_html_().count("<table>") == 2
    assert "sinusoidal" in analysis.scorecard._repr_html_()
