"""A program in a terminal of tmux, which ends with the script."""
import os
import subprocess

from relay import MORTAL, wait

PATIENCE_S = 60


class Terminal:
    def __init__(self, folder, columns, rows, command, environment):
        self.columns, self.rows = columns, rows
        socket = f"{folder}/tmux"
        self.client = ["tmux", "-u", "-S", socket, "-f", "/dev/null"]
        settings = [word for pair in environment.items() for word in ("-e", "=".join(pair))]
        # Not as a daemon, which would outlive the script.
        self.server = subprocess.Popen(
            [*MORTAL, *self.client, "-D"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            env={**os.environ, "TMUX": ""})
        wait(lambda: os.path.exists(socket), "tmux does not start")
        self.tmux("new-session", "-d", "-x", str(columns), "-y", str(rows), *settings, *command)
        self.tmux("set", "-g", "status", "off")
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def tmux(self, *arguments):
        return subprocess.run(
            [*self.client, *arguments], check=True, capture_output=True, text=True,
            env={**os.environ, "TMUX": ""}).stdout

    def press(self, *keys):
        self.tmux("send-keys", *keys)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def shows(self, *texts):
        screen = self.screen()
        return all(text in screen for text in texts)

    def wait(self, *texts):
        wait(lambda: self.shows(*texts), lambda: f"no {texts} on the screen:\n{self.screen()}", PATIENCE_S)

    def cells(self):
        """The screen with its colours, as Tests/Screens/render.py draws it, and where a cursor is shown."""
        text = self.tmux("capture-pane", "-e", "-p", "-N")
        column, row, is_shown = map(int, self.tmux(
            "display-message", "-p", "#{cursor_x} #{cursor_y} #{cursor_flag}").split())
        return text, (column, row) if is_shown else None

    def close(self):
        self.tmux("kill-server")
        self.server.wait()
