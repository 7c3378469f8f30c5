#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py STRATA [SECONDS] [SEED] - random keys at the prompt: pieces of scripts, commands, TAB, arrows,
control characters, broken UTF-8, pastes, other sizes of the terminal. strata must not crash or hang, and must
restore the terminal's modes, whichever way the prompt is left. Prints TAP."""
import fcntl
import os
import pathlib
import pty
import random
import select
import signal
import struct
import sys
import tempfile
import termios
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
import tap
from absent import as_root

STRATA = os.path.realpath(sys.argv[1])
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 10
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else int(time.time())
HANGS = 20 # seconds without a sign of life

PIECES = ['interval:ms:50 { @n++; printf("x%d\\n", @n); }', 'profile:hz:99 { @s[ustack] = count(); }', '@n', '@s', '1 + 2',
          'begin { print("b") }', 'macro m(x) { x + 1 }', 'm(3)', ':running', ':drop all', ':drop 1', ':top @n .05', ':top @s',
          ':help', ':help hist', ':save out.bt', ':load out.bt', ':flame @s x.svg', ':probes sched*', ':q', 'clear(@n)',
          'tracepoint:sched:sched_sw', 'uprobe:libc:mall', 'struct p { int a; };', '{', '}', '(', ')', '"', '/*', '*/', '//',
          ';', '@', '$a = ', 'comm', 'let @m = hash(3);', '@m[1] = 2', 'äö漢', '\\', 'print(', 'exit()', '#define X 3']
KEYS = ['\t', '\r', '\r', '\n', '\x1b[A', '\x1b[B', '\x1b[C', '\x1b[D', '\x1b[H', '\x1b[F', '\x1b[3~', '\x1b', '\x7f', '\x01',
        '\x02', '\x03', '\x05', '\x06', '\x0b', '\x0c', '\x0e', '\x10', '\x12', '\x14', '\x15', '\x17', '\x19', '\x1a', ' ', 'q',
        '\x1b[200~', '\x1b[201~', '\x1b[200~a\n\tb\x1b[201~', '\x1bOC', '\x1b[1;5C', '\x1b[99;99R', '\x00', '\x1c']


class Session:
    def __init__(self, rng, dir):
        self.rng = rng
        master, slave = pty.openpty()
        self.fd = master
        self.modes = termios.tcgetattr(slave)
        self.pid = os.fork()
        if not self.pid:
            signal.signal(signal.SIGHUP, signal.SIG_DFL) # nohup ignores it
            os.login_tty(slave) if hasattr(os, 'login_tty') else login(slave)
            os.chdir(dir)
            os.environ.update(XDG_STATE_HOME=dir, TERM='xterm', LC_ALL=rng.choice(['C', 'C.UTF-8']),
                              LSAN_OPTIONS=f'suppressions={dir}/known-leaks')
            os.execv(STRATA, [STRATA])
        self.slave = slave # kept open, to read the modes after strata has ended
        self.typed, self.last = [], b''

    def type(self):
        rng = self.rng
        kind = rng.random()
        if kind < 0.4:
            data = rng.choice(PIECES).encode()
        elif kind < 0.9:
            data = rng.choice(KEYS).encode()
        elif kind < 0.95:
            data = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 12)))
        else:
            fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', rng.randrange(1, 60), rng.randrange(1, 250), 0, 0))
            return
        self.typed.append(data)
        self.write(data)

    def write(self, data):
        """Writes, and reads meanwhile, since both ends have a buffer."""
        while data and select.select([], [self.fd], [], HANGS)[1]:
            data = data[os.write(self.fd, data[:64]):]
            self.read(0)

    def wait(self):
        """Waits for the first prompt: before it, a signal ends strata immediately."""
        seen = b''
        while b'\x1b[?2004h' not in seen and select.select([self.fd], [], [], HANGS)[0]:
            seen += os.read(self.fd, 65536)

    def read(self, seconds):
        while select.select([self.fd], [], [], seconds)[0]:
            try:
                data = os.read(self.fd, 65536)
                self.last = (self.last + data)[-20000:]
                if not data:
                    return
            except OSError:
                return
            seconds = 0

    def ended(self, seconds):
        """Returns the exit status, or None while it runs."""
        end = time.monotonic() + seconds
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() >= end:
                return None
            self.read(0.02)

    def leave(self):
        """Leaves by one of the ways out; returns the exit status, or None."""
        way = self.rng.choice(['keys', 'term', 'hup'])
        if way == 'keys':
            for _ in range(50): # out of a block, a search, :top
                self.write(b'\x1b\x03\x15\x04')
                status = self.ended(0.1)
                if status is not None:
                    return status
        os.kill(self.pid, signal.SIGTERM if way == 'term' else signal.SIGHUP)
        return self.ended(HANGS)

    def close(self):
        same = termios.tcgetattr(self.slave)[:4] == self.modes[:4]
        os.close(self.fd)
        os.close(self.slave)
        return same


def login(slave):
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for fd in range(3):
        os.dup2(slave, fd)


def run_one(rng, dir):
    """Returns the failure, or None."""
    s = Session(rng, dir)
    s.wait()
    status = None
    for _ in range(rng.randrange(5, 150)):
        s.type()
        s.read(0.01 if rng.random() < 0.8 else 0.2)
        status = s.ended(0)
        if status is not None:
            break
    if status is None:
        status = s.leave()
    if status is None:
        os.kill(s.pid, signal.SIGABRT)
        os.waitpid(s.pid, 0)
    restored = s.close()
    if status == 0 and restored:
        return None
    report = s.last.find(b'ERROR: AddressSanitizer')
    seen = s.last[report:report + 3000] if report >= 0 else s.last[-300:]
    modes = 'restored' if restored else 'not restored'
    return f'status {status}, modes {modes}; seen: {seen}; typed: {s.typed}'


def main():
    cases = tap.Cases()
    rng = random.Random(SEED)
    end = time.monotonic() + SECONDS
    sessions, wrong = 0, []
    with tempfile.TemporaryDirectory() as dir:
        # libedit does not free the names of functions that are added to it.
        pathlib.Path(dir, 'known-leaks').write_text('leak:wcsdup\n')
        while time.monotonic() < end and len(wrong) < 3:
            found = run_one(rng, dir)
            sessions += 1
            wrong += [found] if found else []
    cases.check(not wrong, f'{sessions} sessions of random keys, seed {SEED}', *wrong)
    return cases.done()


sys.exit(as_root(main))
