"""Files of pictures: the same bytes every time, and fonts in PDFs that publishers accept."""

import re
import zlib

import pytest

from closeread.drawing.pictures import own_settings, page, strip, write, write_picture


def draw():
    with own_settings():
        figure = page(2.0, 1.0)
        write(strip(figure, "all", 0.2, 1.0), 1.0, 0.5, "Grüße $1$", 8)
    return figure


@pytest.mark.gate
@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_the_same_figure_gives_the_same_bytes(suffix, tmp_path, monkeypatch):
    write_picture(draw(), tmp_path / f"one{suffix}")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")  # matplotlib would write this date
    write_picture(draw(), tmp_path / f"two{suffix}")
    assert (tmp_path / f"one{suffix}").read_bytes() == (tmp_path / f"two{suffix}").read_bytes()


def test_a_pdf_has_no_date_and_a_truetype_font(tmp_path):
    write_picture(draw(), tmp_path / "figure.pdf")
    pdf = (tmp_path / "figure.pdf").read_bytes()
    assert pdf.startswith(b"%PDF-")
    # ISO 32000, 14.3.3: dates in the information dictionary; 9.9: FontFile2 holds a TrueType font program.
    assert not re.search(rb"/(CreationDate|ModDate|Producer|Creator)\b", pdf)
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf
    packed = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    drawn = b"".join(zlib.decompress(part) for part in packed if part[:1] == b"x")
    assert re.search(rb"\bT[Jj]\b", drawn)  # text, not outlines
