#!/usr/bin/python3
"""Checks cells.py and render.py, which needs Pillow and fonts: `config/setup test` installs them."""

import tempfile
import unittest

from PIL import Image

from cells import Style, rows_of_cells
from render import THEMES, rgb, render, save


def cells(text):
    return [(cell.text, cell.width) for cell in rows_of_cells(text)[0]]


class Cells(unittest.TestCase):
    def test_clusters_take_one_column_or_two(self):
        self.assertEqual(cells("a日é"), [("a", 1), ("日", 2), ("é", 1)])
        self.assertEqual(cells("e\u0301x"), [("e\u0301", 1), ("x", 1)])
        self.assertEqual(cells("👍🏽👨‍👩‍👧❤\ufe0f"), [("👍🏽", 2), ("👨‍👩‍👧", 2), ("❤\ufe0f", 2)])
        self.assertEqual(cells("🇩🇪🇫🇷"), [("🇩🇪", 2), ("🇫🇷", 2)])

    def test_styles_go_on_until_they_are_changed_also_over_lines(self):
        first, second = rows_of_cells("\x1b[1;38;5;208ma\x1b[48;2;1;2;3mb\n\x1b[22;39mc\x1b[md")
        self.assertEqual(first[0].style, Style(foreground=208, bold=True))
        self.assertEqual(first[1].style, Style(foreground=208, background=(1, 2, 3), bold=True))
        self.assertEqual(second[0].style, Style(background=(1, 2, 3)))
        self.assertEqual(second[1].style, Style())

    def test_the_sixteen_colours_and_their_ends(self):
        row, = rows_of_cells("\x1b[31;102ma\x1b[97;40;4;7;9mb\x1b[24;27;29;49mc")
        self.assertEqual(row[0].style, Style(foreground=1, background=10))
        self.assertEqual(row[1].style, Style(
            foreground=15, background=0, underline=True, inverse=True, strikethrough=True))
        self.assertEqual(row[2].style, Style(foreground=15))

    def test_links_show_their_text_alone(self):
        self.assertEqual(cells("\x1b]8;;https://example.org\x1b\\ab\x1b]8;;\x1b\\"), [("a", 1), ("b", 1)])


class Pictures(unittest.TestCase):
    def colours(self, image, column, row, columns=10):
        width, height = (image.width - 12) // columns, (image.height - 12) // 3
        box = (6 + column * width, 6 + row * height, 6 + (column + 1) * width, 6 + (row + 1) * height)
        return {color for _, color in image.crop(box).getcolors(1 << 16)}

    def test_cells_stand_where_they_belong(self):
        image = render("\x1b[41m \x1b[m日x\n\x1b[7m \x1b[m", 10, 3, "light")
        foreground, background, own = THEMES["light"]
        self.assertEqual(self.colours(image, 0, 0), {rgb(own.split()[1])})
        self.assertGreater(len(self.colours(image, 3, 0)), 1)
        self.assertEqual(self.colours(image, 4, 0), {rgb(background)})
        self.assertEqual(self.colours(image, 0, 1), {rgb(foreground)})

    def test_lines_join(self):
        image = render("┌─┐\n│ │\n└─┘", 10, 3)
        width, height = (image.width - 12) // 10, (image.height - 12) // 3
        line = rgb(THEMES["dark"][0])
        x, y = 6 + width // 2, 6 + height // 2
        self.assertTrue(all(image.getpixel((x, y + step)) == line for step in range(2 * height)))
        self.assertTrue(all(image.getpixel((x + step, y)) == line for step in range(2 * width)))

    def test_a_file_keeps_size_and_colours(self):
        image = render("\x1b[48;2;10;200;30m  ", 10, 3, cursor=(5, 2))
        with tempfile.TemporaryDirectory() as folder:
            save(image, f"{folder}/picture.png")
            read = Image.open(f"{folder}/picture.png").convert("RGB")
        self.assertEqual(read.size, image.size)
        self.assertEqual(self.colours(read, 0, 0), {(10, 200, 30)})


if __name__ == "__main__":
    unittest.main()
