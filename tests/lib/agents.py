# SPDX-License-Identifier: Apache-2.0
"""agents.py - runs strata agent on a directory of scripts, and reads its pages."""
import os
import pathlib
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def until(what, seconds=60):
    """Waits until what() is true, and returns its value, or the last one when the time is over."""
    end = time.monotonic() + seconds
    while not (seen := what()) and time.monotonic() < end:
        time.sleep(0.05)
    return seen


class Agent:
    """with Agent(strata, home, {'name': script}) as agent: .."""

    def __init__(self, strata, home, scripts, more='', args=(), **environment):
        self.strata, self.home, self.args = strata, pathlib.Path(home), args
        self.scripts = self.home / 'scripts'
        self.scripts.mkdir(mode=0o755, exist_ok=True)
        for name, text in scripts.items():
            self.write(name, text)
        self.port = free_port()
        self.conf = self.home / 'agent.conf'
        self.set(more)
        self.environment = os.environ | environment
        self.errors = self.home / 'errors'

    def set(self, more):
        self.conf.write_text(f'[agent]\nscripts = {self.scripts}\nwindow = 300ms\nlisten = 127.0.0.1:{self.port}\n'
                             f'cpu = 0%\ncpu_all = 0%\n{more}')

    def write(self, name, text):
        """Replaces a script in one step, as editors do."""
        new = self.scripts / f'.{name}.new'
        new.write_text(text)
        new.chmod(0o644)
        new.rename(self.scripts / f'{name}.bt')

    def command(self, *args):
        return [self.strata, 'agent', '-c', str(self.conf), *self.args, *args]

    def __enter__(self):
        self.process = subprocess.Popen(self.command(), stderr=self.errors.open('w'), env=self.environment)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)

    def get(self, path):
        """Returns (status, text)."""
        try:
            with urllib.request.urlopen(f'http://127.0.0.1:{self.port}{path}', timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)

    def metrics(self):
        """Returns {name and labels: value}."""
        status, text = self.get('/metrics')
        return {k: float(v) for k, v in re.findall(r'^([^#\n]*) (\S+)$', text, re.M)} if status == 200 else {}

    def metric(self, name):
        return self.metrics().get(name, 0)

    def is_up(self, name):
        return self.metric(f'strata_unit_up{{unit="{name}"}}') == 1

    def children(self):
        """Returns {script's path: pid} of its processes. A process that only waits while the kernel detaches the probes of one that has
        ended is not one of them."""
        found = {}
        for path in (entry / 'cmdline' for entry in pathlib.Path('/proc').glob('[0-9]*')):
            try:
                words = path.read_bytes().split(b'\0')
                if path.with_name('comm').read_text() == 'strata-detach\n':
                    continue
            except OSError:
                continue
            found |= {pathlib.Path(os.fsdecode(word)).stem: int(path.parent.name) for word in words
                      if os.fsdecode(word).startswith(str(self.scripts) + '/')}
        return found

    def hup(self):
        self.process.send_signal(signal.SIGHUP)
