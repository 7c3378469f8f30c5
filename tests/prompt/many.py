#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""many.py STRATA [LINES] - a prompt with very many lines, half of them scripts that are dropped again: no
descriptor, program, map or memory remains. It also measures the time per line. Prints TAP."""
import os
import pathlib
import pty
import re
import select
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import tap
from absent import as_root

STRATA = os.path.realpath(sys.argv[1])
LINES = int(sys.argv[2]) if len(sys.argv) > 2 else 300
BEGINS, ENDS = b'\x1b[?2004h', b'\x1b[?2004l' # a line is being edited
SCRIPTS = ['interval:s:100 { @n = count(); }', 'tracepoint:sched:sched_switch { @by[comm] = count(); }',
           'uprobe:libc:malloc /pid == 1/ { @n = count(); }']
# After this, strata also reads new processes of the machine and their files, and keeps them: memory is measured before.
TICKS = os.sysconf('SC_CLK_TCK')
STACKS = 'profile:hz:1 { @stacks[ustack] = count(); }'


class Prompt:
    def __init__(self, dir=None):
        self.dir = dir or tempfile.TemporaryDirectory()
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ.update(XDG_STATE_HOME=self.dir.name, TERM='xterm')
            os.environ.pop('MALLOC_PERTURB_', None) # this touches unused memory
            os.execv(STRATA, [STRATA])
        self.seen = b''
        self.until(BEGINS)

    def until(self, mark):
        """Reads until the mark; returns the text before it."""
        end = time.monotonic() + 30
        while mark not in self.seen:
            if time.monotonic() > end or not select.select([self.fd], [], [], 30)[0]:
                raise TimeoutError(self.seen[-500:])
            self.seen += os.read(self.fd, 65536)
        before, _, self.seen = self.seen.partition(mark)
        return before

    def line(self, text):
        """Returns (seconds, the output)."""
        start = time.monotonic()
        os.write(self.fd, text.encode() + b'\r')
        self.until(ENDS)
        printed = self.until(BEGINS)
        return time.monotonic() - start, re.sub(rb'\x1b\[[?\d;]*\w', b'', printed).decode(errors='replace')

    def held(self):
        """Returns the numbers of descriptors and BPF objects of the process, and its memory in KiB."""
        proc = pathlib.Path('/proc', str(self.pid))
        fds = list((proc / 'fd').iterdir())
        objects = [os.readlink(f) for f in fds]
        status = (proc / 'status').read_text()
        return len(fds), sum('bpf' in o for o in objects), int(re.search(r'RssAnon:\s+(\d+)', status).group(1))

    def user(self):
        """Returns the CPU seconds in user mode."""
        return int(pathlib.Path('/proc', str(self.pid), 'stat').read_text().rpartition(')')[2].split()[11]) / TICKS

    def close(self):
        os.write(self.fd, b'\x04')
        try:
            while os.read(self.fd, 65536):
                pass
        except OSError:
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def median(of):
    return sorted(of)[len(of) // 2]


def rounds(p, n, start, scripts):
    """Returns for each script the (seconds, CPU seconds in user mode) of each line."""
    times = {}
    for i in range(start, start + n):
        script = scripts[i % len(scripts)]
        user = p.user()
        seconds, printed = p.line(script)
        number = re.search(r'\[(\d+)\] \d+ probe', printed)
        if not number:
            raise ValueError(f'{script}: {printed}')
        times.setdefault(script, []).append((seconds, p.user() - user))
        p.line(f':drop {number.group(1)}')
        p.line(f'{i} + 1')
    return times


def beside(cases):
    """Returns the lines that two prompts at the same time, and one before them, have added to the history."""
    dir = tempfile.TemporaryDirectory()
    wanted = ['1 + 1', '"a\\\\b ü"', 'print(3)']
    for lines in wanted[:1], wanted[1:]:
        prompts = [Prompt(dir) for _ in lines]
        for p, line in zip(prompts, lines):
            p.line(line)
        for p in prompts:
            p.close()
    p = Prompt(dir)
    for key in '\x10\x10\r': # up, up, Enter
        os.write(p.fd, key.encode())
    p.until(ENDS)
    answer = p.until(BEGINS).decode()
    p.close()
    kept = pathlib.Path(dir.name, 'strata/history')
    cases.check(answer.strip() == 'a\\b ü' and len(kept.read_text().splitlines()) == 5 and kept.stat().st_mode & 0o777 == 0o600,
                'two prompts at the same time keep their lines', answer, kept.read_text())


def main():
    cases = tap.Cases()
    p = Prompt()
    rounds(p, 30, 0, SCRIPTS) # memory that is allocated once, or grows at first
    before = p.held()
    times = rounds(p, LINES // 3, 30, SCRIPTS)
    after = p.held()
    rounds(p, 10, 1000, [STACKS])
    first = p.held()
    times |= rounds(p, LINES // 10, 1010, [STACKS])
    stacks = p.held()
    cases.check(after[0] <= before[0] + 1, f'{LINES} lines: descriptors {before[0]} -> {after[0]}')
    cases.check(after[1] <= before[1] + 1, f'programs, maps, links: {before[1]} -> {after[1]}')
    cases.check(stacks[0] <= first[0] + 1 and stacks[1] <= first[1] + 1, '..and with stacks', first, stacks)
    per_line = (after[2] - before[2]) / LINES
    cases.check(per_line < 4, f'memory: {before[2]} -> {after[2]} KiB, {per_line:.2f} KiB a line')
    medians = {script: median([seconds for seconds, _ in of]) for script, of in times.items()}
    for script, of in times.items():
        own = sum(user for _, user in of) / len(of)
        print(f'# median {medians[script] * 1000:.1f} ms, outside of the kernel {own * 1000:.1f} ms: {script}')
    ratio = medians[STACKS] / medians[SCRIPTS[1]] # the unwinder's verification takes seven times as long
    cases.check(ratio < 3, f'the kernel verifies no unwinder for a line: {ratio:.1f} times as long as without', ratio)
    cases.check(p.close() == 0, 'it ends')
    beside(cases)
    return cases.done()


sys.exit(as_root(main))
