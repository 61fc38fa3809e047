"""What `tmux capture-pane -e -p -N` prints, as rows of cells."""

import re
import unicodedata
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Style:
    """How a cell looks (ECMA-48, SGR). A colour is None (the terminal's own), a number of the palette
    of 256, or three numbers."""

    foreground: object = None
    background: object = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    inverse: bool = False
    strikethrough: bool = False


@dataclass(frozen=True)
class Cell:
    """One grapheme cluster, and the columns it takes: 1 or 2."""

    text: str
    width: int
    style: Style


ON = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse", 9: "strikethrough"}
OFF = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 27: ("inverse",), 29: ("strikethrough",)}


def styled(style, parameters):
    """The style after an SGR sequence with these parameters."""
    words = [word for word in re.split("[;]", parameters)] or ["0"]
    index = 0
    while index < len(words):
        # Sub-parameters after a colon: only the underline's kinds have them here.
        code = int(words[index].split(":")[0] or 0)
        index += 1
        if code == 0:
            style = Style()
        elif code in ON:
            style = replace(style, **{ON[code]: True})
        elif code in OFF:
            style = replace(style, **{name: False for name in OFF[code]})
        elif code in (38, 48):
            side = "foreground" if code == 38 else "background"
            if words[index] == "5":
                color, index = int(words[index + 1]), index + 2
            else:
                color, index = tuple(int(word) for word in words[index + 1 : index + 4]), index + 4
            style = replace(style, **{side: color})
        elif code in (39, 49):
            style = replace(style, **{"foreground" if code == 39 else "background": None})
        elif 30 <= code <= 37 or 90 <= code <= 97:
            style = replace(style, foreground=code - 30 if code < 90 else code - 82)
        elif 40 <= code <= 47 or 100 <= code <= 107:
            style = replace(style, background=code - 40 if code < 100 else code - 92)
    return style


def is_flag(character):
    return 0x1F1E6 <= ord(character) <= 0x1F1FF


def joins(cluster, character):
    """Whether a character belongs to the cluster before it."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf") or 0x1F3FB <= ord(character) <= 0x1F3FF:
        return True
    if cluster.endswith("\u200d"):
        return True
    return is_flag(character) and len(cluster) == 1 and is_flag(cluster)


def width(cluster):
    if unicodedata.east_asian_width(cluster[0]) in "WF" or "\ufe0f" in cluster:
        return 2
    return 2 if len(cluster) == 2 and is_flag(cluster[0]) else 1


def row_of_cells(line, style):
    """The cells of a line, and the style that the next one begins with."""
    clusters = []
    for part in re.split("(\x1b\\[[0-9;:]*m|\x1b\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[\x0e\x0f])", line):
        if part.startswith("\x1b["):
            style = styled(style, part[2:-1])
        elif part and part[0] not in "\x1b\x0e\x0f":
            for character in part:
                if clusters and joins(clusters[-1][0], character):
                    clusters[-1] = (clusters[-1][0] + character, clusters[-1][1])
                else:
                    clusters.append((character, style))
    return [Cell(text, width(text), style) for text, style in clusters], style


def rows_of_cells(text):
    """Every line of a screen, as cells."""
    rows, style = [], Style()
    for line in text.rstrip("\n").split("\n"):
        row, style = row_of_cells(line, style)
        rows.append(row)
    return rows
