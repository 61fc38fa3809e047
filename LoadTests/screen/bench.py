#!/usr/bin/python3
"""Measures wschat on its terminal, and prints a table."""

import argparse
import contextlib
import datetime
import glob
import os
import platform
import random
import sqlite3
import subprocess
import sys
import tempfile
import time

from terminal import Late, Terminal

sys.path.append(os.path.join(os.path.dirname(__file__), "../../Tests/EndToEndTests/Peers"))
from relay import WITHOUT_LIMITS, Relay  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
MEBIBYTE = 1 << 20


class Bench:
    def __init__(self, built, folder, entries, keys, seconds):
        self.built, self.folder = built, folder
        self.entries, self.keys, self.seconds = entries, keys, seconds
        self.rows = []
        # Other programs that use the processors affect every figure.
        self.load = os.getloadavg()[0]

    # The relay and the senders.

    def sender(self, count, per_second, *text):
        return subprocess.Popen(
            [sys.executable, "-B", f"{HERE}/sender.py", f"{self.relay.socket}?user=bo", "general",
             str(count), str(per_second), *text], stdout=subprocess.PIPE, text=True)

    def wschat(self):
        return Terminal(
            [f"{self.built}/wschat", self.relay.socket, "--user", "ada", "--room",
             "general"],
            {"HOME": self.folder, "XDG_CONFIG_HOME": f"{self.folder}/config",
             "XDG_STATE_HOME": f"{self.folder}/state", "TERM": "xterm-256color",
             "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8"})

    # The measurements.

    def row(self, what, value, goal=""):
        self.rows.append((what, value, goal))
        print(f"{what}: {value}" + (f" (goal: {goal})" if goal else ""), flush=True)

    def fill(self):
        """Lets wschat receive every entry, so that its cache has all of them."""
        terminal = self.wschat()
        # The round trip is displayed: wschat is connected, and joins the room immediately.
        terminal.wait_for_frame(" ms")
        terminal.idle(0.5)
        # The oldest message, for the search.
        self.sender(1, 0, "which of these messages has the needle").communicate()
        began = time.monotonic()
        sending = self.sender(self.entries, 0)
        last = f"message {self.entries} of {self.entries}"
        while True:
            terminal.forget()
            # Only changes are written, perhaps a single digit: this redraws everything.
            terminal.press("\x0c")
            try:
                terminal.wait_for_frame(last, seconds=1)
                break
            except Late:
                if time.monotonic() - began > 300:
                    raise
        sending.wait()
        self.row(f"{self.entries:,} entries arrive, are kept and shown",
                 f"{time.monotonic() - began:.1f} s")
        terminal.quit()
        self.row("entries in the cache, by its own count",
                 f"{self.cache('SELECT count(*) FROM entries'):,}")

    def opening(self, what, times=11):
        """Measures from the start of the program to the end of the frame with the newest entry."""
        last = f"message {self.entries} of {self.entries}"
        results, memory = [], 0
        for _ in range(times):
            terminal = self.wschat()
            results.append(terminal.wait_for_frame(last, first=True) - terminal.started)
            terminal.idle(0.2)
            memory = max(memory, terminal.resident_bytes("VmHWM"))
            terminal.quit()
        results.sort()
        self.row(f"opens from the cache, {what}: median",
                 f"{results[len(results) // 2] * 1000:.1f} ms", "100 ms")
        self.row(f"opens from the cache, {what}: slowest of {times}", f"{results[-1] * 1000:.1f} ms")
        self.row(f"memory after that, {what} (most)", f"{memory / MEBIBYTE:.1f} MiB", "60 MiB")

    def cache(self, query):
        """Returns the first value of a query of the cache."""
        for path in glob.glob(f"{self.folder}/state/wschat/*.db"):
            with contextlib.closing(sqlite3.connect(path)) as cache:
                return cache.execute(query).fetchone()[0]

    def searching(self, times=31):
        """Measures from a paste into the search of all conversations to the frame with the match."""
        terminal = self.wschat()
        terminal.wait_for_frame(f"message {self.entries} of {self.entries}")
        began = time.monotonic()
        while self.cache("SELECT max(position) - through FROM entries, indexing") >= 2048:
            if time.monotonic() - began > 120:
                raise Late("the messages are not indexed")
            terminal.idle(0.2)
        terminal.press("\x12")
        terminal.wait_for_frame("conversations")
        for what, query, match in [
                ("a rare word, of the oldest message", "need", "needle"),
                ("three words, two of them in each message", "mess whic need", "needle"),
                ("a word of each message", "mess", str(self.entries))]:
            results = []
            for _ in range(times):
                terminal.idle(0.05)
                terminal.forget()
                began = time.monotonic()
                terminal.press(f"\x1b[200~{query}\x1b[201~")
                results.append(terminal.wait_for_frame(match, seconds=5) - began)
                terminal.press("\x15")
            results.sort()
            self.row(f"search over {self.entries:,} messages, {what}: median of {times}",
                     f"{results[times // 2] * 1000:.1f} ms", "50 ms")
            self.row(f"search over {self.entries:,} messages, {what}: slowest", f"{results[-1] * 1000:.1f} ms")
        terminal.press("\x1b")
        terminal.idle(0.2)
        terminal.quit()

    def key(self, terminal, character):
        """Measures from a key to the end of the frame that shows it."""
        terminal.forget()
        began = time.monotonic()
        terminal.press(character)
        return terminal.wait_for_frame(character, seconds=5) - began

    def typing(self, terminal, count, pause):
        """Types letters that occur nowhere else on the screen, line by line."""
        results = []
        for number in range(count):
            if number % 31 == 30:
                terminal.press("\x15")
                terminal.idle(0.05)
            results.append(self.key(terminal, chr(0x410 + number % 32)))
            # Random pauses, so that keys hit the program's timers at any phase.
            terminal.idle(pause * random.uniform(0.5, 1.5))
        return sorted(results)

    def report_keys(self, results, what, goal=""):
        def at(part):
            return f"{results[min(len(results) - 1, int(len(results) * part))] * 1000:.2f} ms"
        self.row(f"key to frame, {what}: p50 of {len(results)}", at(0.5))
        self.row(f"key to frame, {what}: p99", at(0.99), goal)

    def keys_at_rest(self):
        terminal = self.wschat()
        terminal.wait_for_frame(f"message {self.entries} of {self.entries}")
        terminal.idle(1)
        self.report_keys(self.typing(terminal, self.keys, 0.01), "nothing else happens", "5 ms")
        before = terminal.processor_seconds()
        terminal.idle(10)
        self.row("processor while nothing happens",
                 f"{(terminal.processor_seconds() - before) * 1000:.0f} ms in 10 s, in steps of 10 ms")
        for _ in range(40):
            terminal.press("\x1b[5~")
            terminal.idle(0.05)
        self.row("memory after 40 pages up (most)",
                 f"{terminal.resident_bytes('VmHWM') / MEBIBYTE:.1f} MiB", "60 MiB")
        terminal.quit()

    def torrent(self):
        terminal = self.wschat()
        terminal.wait_for_frame(f"message {self.entries} of {self.entries}")
        terminal.idle(1)
        sending = self.sender(1000 * self.seconds, 1000)
        terminal.idle(1)
        began, frames = time.monotonic(), terminal.frames
        written, processor = terminal.bytes, terminal.processor_seconds()
        results = []
        while time.monotonic() - began < self.seconds - 2:
            results += self.typing(terminal, 20, 0.05)
            terminal.press("\x15")
            # A letter that is already in its place is not written again.
            terminal.idle(0.1)
        passed = time.monotonic() - began
        self.row("1,000 messages/s: processor",
                 f"{(terminal.processor_seconds() - processor) / passed:.3f} s/s")
        self.row("1,000 messages/s: frames, those of keys as well", f"{(terminal.frames - frames) / passed:.1f} /s")
        self.row("1,000 messages/s: to the terminal",
                 f"{(terminal.bytes - written) / passed / 1024:.0f} KiB/s")
        self.report_keys(sorted(results), "at 1,000 messages/s")
        sent = sending.communicate()[0].strip()
        self.row("1,000 messages/s: sent", f"{sent} /s")
        terminal.forget()
        terminal.press("\x0c")
        terminal.wait_for_frame(f"message {1000 * self.seconds} of {1000 * self.seconds}")
        self.row("memory after that (most)",
                 f"{terminal.resident_bytes('VmHWM') / MEBIBYTE:.1f} MiB", "60 MiB")
        terminal.quit()

    def run(self):
        self.relay = Relay(f"{self.built}/relay", self.folder, WITHOUT_LIMITS)
        try:
            self.fill()
            self.opening("with a relay")
            self.relay.stop()
            self.opening("without one")
            self.relay.start()
            self.searching()
            self.keys_at_rest()
            self.torrent()
        finally:
            self.relay.stop()

    def markdown(self):
        lines = [
            "# wschat on its terminal", "",
            f"`make bench-screen`, {datetime.date.today()}, {os.cpu_count()} processors,"
            f" {platform.system()} {platform.release().split('-')[0]}. A pseudo-terminal of 120×40 that"
            " answers as a modern terminal does; a frame has been seen when the end of its synchronized"
            f" update has been read. The conversation has {self.entries:,} entries, and its cache was"
            " filled by wschat itself. Keys come at random moments. The load average when it began was"
            f" {self.load:.1f}: what others did is in the figures.", "",
            "| what | measured | goal |", "| --- | --- | --- |"]
        lines += [f"| {what} | {value} | {goal} |" for what, value, goal in self.rows]
        return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("built", help="the folder of relay and wschat")
    parser.add_argument("--results", help="the file to write the table to")
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--keys", type=int, default=500)
    parser.add_argument("--seconds", type=int, default=20, help="of 1,000 messages a second")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(
            os.path.abspath(options.built), folder, options.entries, options.keys, options.seconds)
        try:
            bench.run()
        except Late as late:
            sys.exit(f"bench.py: {late}")
        if options.results:
            with open(options.results, "w") as file:
                file.write(bench.markdown())


if __name__ == "__main__":
    main()
