#!/usr/bin/python3
"""Draws a terminal's screen, as `tmux capture-pane -e -p -N` prints it, into a PNG."""

import argparse
import sys
import unicodedata
from functools import cached_property

from PIL import Image, ImageDraw, ImageFont

from cells import rows_of_cells

FONTS = "/usr/share/fonts/truetype/"
MONOSPACED = FONTS + "dejavu/DejaVuSansMono.ttf"
BOLD = FONTS + "dejavu/DejaVuSansMono-Bold.ttf"
# Searched in this order for characters that the first lacks.
FALLBACKS = [
    FONTS + "dejavu/DejaVuSans.ttf",
    FONTS + "wqy/wqy-zenhei.ttc",
    FONTS + "ancient-scripts/Symbola_hint.ttf",
]
EMOJI = FONTS + "noto/NotoColorEmoji.ttf"
# Its only size.
EMOJI_SIZE = 109

# Foreground, background, and the sixteen colours of a terminal.
THEMES = {
    "dark": ("#d8dee9", "#16181d", "#3b4252 #e06c75 #98c379 #e5c07b #61afef #c678dd #56b6c2 #c8ccd4"
             " #6b7280 #f08791 #b1d796 #f0d399 #84c3f5 #d99aea #7fd0da #ffffff"),
    "light": ("#24292f", "#ffffff", "#24292f #c9252d #1a7f37 #8a6100 #0859c5 #8250df #1b7c83 #6e7781"
              " #57606a #a40e26 #116329 #633c01 #0550ae #6639ba #3192aa #b8bec5"),
}


def rgb(text):
    return tuple(int(text[index : index + 2], 16) for index in (1, 3, 5))


def mixed(first, second, part):
    return tuple(round(a + (b - a) * part) for a, b in zip(first, second))


class Palette:
    """What colours a theme has for the numbers of a palette of 256."""

    def __init__(self, theme):
        foreground, background, own = THEMES[theme]
        self.foreground, self.background = rgb(foreground), rgb(background)
        self.own = [rgb(word) for word in own.split()]

    def color(self, color, standard):
        if color is None:
            return standard
        if isinstance(color, tuple):
            return color
        if color < 16:
            return self.own[color]
        if color < 232:
            steps = (0, 95, 135, 175, 215, 255)
            color -= 16
            return steps[color // 36], steps[color // 6 % 6], steps[color % 6]
        return (8 + 10 * (color - 232),) * 3

    def of(self, style):
        """The foreground and background of a cell."""
        foreground = self.color(style.foreground, self.foreground)
        background = self.color(style.background, self.background)
        if style.inverse:
            foreground, background = background, foreground
        if style.dim:
            foreground = mixed(foreground, background, 0.45)
        return foreground, background


class Painter:
    def __init__(self, columns, rows, theme, size, margin):
        self.palette = Palette(theme)
        self.fonts = {False: self.font(MONOSPACED, size), True: self.font(BOLD, size)}
        self.size = size
        self.width = round(self.fonts[False].getlength("M"))
        ascent, descent = self.fonts[False].getmetrics()
        self.height = ascent + descent + 1
        self.baseline = ascent
        self.margin = margin
        self.image = Image.new(
            "RGB", (columns * self.width + 2 * margin, rows * self.height + 2 * margin),
            self.palette.background)
        self.draw = ImageDraw.Draw(self.image)

    @cached_property
    def fallbacks(self):
        return [self.font(path, self.size) for path in FALLBACKS]

    @cached_property
    def emoji(self):
        return self.font(EMOJI, EMOJI_SIZE)

    @staticmethod
    def font(path, size):
        try:
            return ImageFont.truetype(path, size)
        except OSError:
            sys.exit(f"render.py: there is no font {path}; `config/setup pictures` installs it")

    def place(self, column, row):
        return self.margin + column * self.width, self.margin + row * self.height

    def cell(self, cell, column, row):
        foreground, background = self.palette.of(cell.style)
        x, y = self.place(column, row)
        right, bottom = x + cell.width * self.width - 1, y + self.height - 1
        self.draw.rectangle((x, y, right, bottom), background)
        if cell.text != " " and not self.box(cell.text, x, y, foreground):
            if not self.block(cell.text, x, y, foreground):
                self.glyph(cell, x, y, foreground)
        if cell.style.underline:
            self.draw.line((x, y + self.baseline + 2, right, y + self.baseline + 2), foreground)
        if cell.style.strikethrough:
            middle = y + self.baseline - self.baseline // 3
            self.draw.line((x, middle, right, middle), foreground)

    def glyph(self, cell, x, y, color):
        first = cell.text[0]
        is_emoji = "\ufe0f" in cell.text or (
            cell.width == 2 and unicodedata.category(first) in ("So", "Sk", "Cn"))
        if is_emoji:
            self.picture(cell.text, x, y)
            return
        font = self.fonts[cell.style.bold]
        if not has(font, first):
            font = next((font for font in self.fallbacks if has(font, first)), font)
            # Characters of other fonts are centred in their columns.
            x += max(0, (cell.width * self.width - font.getlength(cell.text)) / 2)
        self.draw.text((x, y + self.baseline), cell.text, color, font, anchor="ls")

    def picture(self, text, x, y):
        """An emoji, which has colours of its own, as large as two columns allow."""
        box = self.emoji.getbbox(text)
        drawn = Image.new("RGBA", (max(1, box[2]), max(1, box[3])))
        ImageDraw.Draw(drawn).text((0, 0), text, font=self.emoji, embedded_color=True)
        drawn = drawn.crop(drawn.getbbox() or (0, 0, 1, 1))
        scale = min(2 * self.width / drawn.width, (self.height - 2) / drawn.height)
        size = max(1, round(drawn.width * scale)), max(1, round(drawn.height * scale))
        drawn = drawn.resize(size, Image.LANCZOS)
        place = x + (2 * self.width - size[0]) // 2, y + (self.height - size[1]) // 2
        self.image.paste(drawn, place, drawn)

    def box(self, text, x, y, color):
        """Lines that join with those of the next cells, which those of a font would not; from the
        character's name, such as BOX DRAWINGS LIGHT DOWN AND RIGHT."""
        words = unicodedata.name(text[0], "").split()
        if words[:2] != ["BOX", "DRAWINGS"] or {"DOUBLE", "DASH", "DIAGONAL"} & set(words):
            return False
        weight, waiting, arms = 1, [], {}
        for word in words[2:]:
            if word in ("LIGHT", "HEAVY"):
                weight = 1 if word == "LIGHT" else 2
                # "DOWN HEAVY": the weight follows the arms that it belongs to.
                arms.update({arm: weight for arm in waiting if arm not in arms})
            elif word == "HORIZONTAL":
                waiting += ["LEFT", "RIGHT"]
            elif word == "VERTICAL":
                waiting += ["UP", "DOWN"]
            elif word in ("LEFT", "RIGHT", "UP", "DOWN"):
                waiting.append(word)
        leading = words[2] in ("LIGHT", "HEAVY")
        if leading:
            arms = {arm: 1 if words[2] == "LIGHT" else 2 for arm in waiting}
        across, down = x + self.width // 2, y + self.height // 2
        if "ARC" in words:
            return self.arc(arms, x, y, across, down, color)
        ends = {"LEFT": (x, down), "RIGHT": (x + self.width - 1, down),
                "UP": (across, y), "DOWN": (across, y + self.height - 1)}
        for arm, weight in arms.items():
            (left, right), (top, bottom) = (sorted(pair) for pair in zip((across, down), ends[arm]))
            thick = weight - 1
            self.draw.rectangle((left, top, max(right, left + thick), max(bottom, top + thick)), color)
        return True

    def arc(self, arms, x, y, across, down, color):
        """A corner that is round: a quarter of a circle, and the rest of the lines."""
        radius = self.width // 2
        right, below = "RIGHT" in arms, "DOWN" in arms
        left, top = (across if right else across - 2 * radius), (down if below else down - 2 * radius)
        start = {(True, True): 180, (False, True): 270, (False, False): 0, (True, False): 90}[right, below]
        self.draw.arc((left, top, left + 2 * radius, top + 2 * radius), start, start + 90, color)
        if below:
            self.draw.line((across, down + radius, across, y + self.height - 1), color)
        else:
            self.draw.line((across, y, across, down - radius), color)
        if right:
            self.draw.line((across + radius, down, x + self.width - 1, down), color)
        else:
            self.draw.line((x, down, across - radius, down), color)
        return True

    def block(self, text, x, y, color):
        """Blocks that fill parts of a cell."""
        code, width, height = ord(text[0]), self.width, self.height
        if 0x2581 <= code <= 0x2588:
            part = round(height * (code - 0x2580) / 8)
            area = (x, y + height - part, x + width - 1, y + height - 1)
        elif 0x2589 <= code <= 0x258F:
            area = (x, y, x + round(width * (0x2590 - code) / 8) - 1, y + height - 1)
        elif code == 0x2580:
            area = (x, y, x + width - 1, y + height // 2 - 1)
        elif code == 0x2590:
            area = (x + width // 2, y, x + width - 1, y + height - 1)
        else:
            return False
        self.draw.rectangle(area, color)
        return True

    def cursor(self, column, row):
        """A bar before the column."""
        x, y = self.place(column, row)
        self.draw.rectangle((x, y, x + 1, y + self.height - 1), self.palette.foreground)


MISSING = {}


def has(font, character):
    """Whether a font has a character: one that is missing looks like one that no font has."""
    if font not in MISSING:
        MISSING[font] = bytes(font.getmask("\U000effff"))
    return bytes(font.getmask(character)) != MISSING[font]


def render(text, columns, rows, theme="dark", cursor=None, size=15, margin=6):
    """The picture of a screen with this number of columns and rows."""
    painter = Painter(columns, rows, theme, size, margin)
    for row, cells in enumerate(rows_of_cells(text)[:rows]):
        column = 0
        for cell in cells:
            if column + cell.width <= columns:
                painter.cell(cell, column, row)
            column += cell.width
    if cursor:
        painter.cursor(*cursor)
    return painter.image


def save(image, path):
    """With all its colours: a palette of 256 would give names the colours of emoji."""
    image.save(path, optimize=True)


def main():
    parser = argparse.ArgumentParser(
        description="Draw a screen from standard input, as `tmux capture-pane -e -p -N` prints it.")
    parser.add_argument("file", help="the PNG to write")
    parser.add_argument("--columns", type=int, default=80)
    parser.add_argument("--rows", type=int, default=24)
    parser.add_argument("--theme", choices=sorted(THEMES), default="dark",
                        help="the terminal's own colours")
    parser.add_argument("--cursor", metavar="COLUMN,ROW", help="from 0,0; none by default")
    options = parser.parse_args()
    cursor = tuple(int(word) for word in options.cursor.split(",")) if options.cursor else None
    save(render(sys.stdin.read(), options.columns, options.rows, options.theme, cursor), options.file)


if __name__ == "__main__":
    main()
