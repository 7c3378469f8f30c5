# SPDX-License-Identifier: Apache-2.0
"""terminal.py - strata in a terminal of tmux: takes keys, and returns the screen."""
import os
import subprocess
import tempfile

import waits


class Terminal:
    def __init__(self, command, columns=80, rows=24, env=None):
        self.dir = tempfile.TemporaryDirectory()
        self.socket = os.path.join(self.dir.name, 'tmux')
        words = {'TERM': 'xterm-256color', 'XDG_STATE_HOME': self.dir.name, 'LC_ALL': 'C.UTF-8', **(env or {})}
        env = [f'{name}={value}' for name, value in words.items() if value is not None]
        self.tmux('-f', '/dev/null', 'new-session', '-d', '-x', str(columns), '-y', str(rows), 'env', '-u', 'NO_COLOR',
                  *env, 'sh', '-c', 'trap : INT; cd "$1"; shift; "$@"; echo "left with $?"; stty -a | grep -o -- "-*icanon";'
                  ' exec cat', 'sh', self.dir.name, *command)

    def tmux(self, *args):
        return subprocess.run(['tmux', '-S', self.socket, *args], capture_output=True, text=True, check=True).stdout

    def screen(self, colours=False):
        return self.tmux('capture-pane', '-p', *(['-e'] if colours else []))

    def history(self):
        """Returns the whole output."""
        return self.tmux('capture-pane', '-p', '-S', '-')

    def keys(self, *names):
        self.tmux('send-keys', *names)

    def type(self, text):
        """Types a text; tmux would take a ';' at the end for its own."""
        self.tmux('send-keys', '-l', '--', text[:-1] + '\\;' if text.endswith(';') else text)

    def line(self, text):
        self.type(text)
        self.keys('Enter')

    def paste(self, text):
        path = os.path.join(self.dir.name, 'paste')
        with open(path, 'w') as f:
            f.write(text)
        self.tmux('load-buffer', path)
        self.tmux('paste-buffer', '-p')

    def resize(self, columns, rows):
        self.tmux('resize-window', '-x', str(columns), '-y', str(rows))

    def wait(self, found, seconds=10, whole=False):
        """Waits until the text, or each of several, is on the screen (whole: in the output). Returns the screen, or None."""
        texts = [found] if isinstance(found, str) else found
        return self.until(lambda screen: all(text in screen for text in texts), seconds, whole)

    def until(self, is_right, seconds=10, whole=False):
        """Waits until is_right(the screen). Returns the screen, or None."""
        seen = []

        def looks_right():
            seen[:] = [self.history() if whole else self.screen()]
            return is_right(seen[0])

        return seen[0] if waits.comes(looks_right, seconds) else None

    def pid(self):
        """Returns the process ID of strata."""
        shell = self.tmux('display-message', '-p', '#{pane_pid}').strip()
        children = subprocess.run(['pgrep', '-P', shell], capture_output=True, text=True).stdout.split()
        return int(children[0]) if children else 0

    def close(self):
        subprocess.run(['tmux', '-S', self.socket, 'kill-server'], capture_output=True)
        self.dir.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.close()
