#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""account.py - compares PHP's own account with phpstack and with the PHP frames of ustack, frame by
frame, without and with the lines, and the depth with len(phpstack), for thousands of stacks of random
shape and depth.

    account.py STRATA [CALLS [PHP...]]     root. A PHP is a name of phps.py, with a mode
                                           (8.2:tracing) or in all modes

Without a PHP: all available versions."""
import os
import pathlib
import re
import sys
import tempfile
from binascii import crc32

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / 'lib'))
import absent
import phps
import traced

AROUND = 2 # getmypid() and probe() themselves, which PHP's account omits
AHEAD = 3000
ENOUGH = 0.999 # of names, and of lines

SCRIPT = '''uprobe:libc:getpid /pid == %d/ {
    printf("phpstack %%d%%s\\n", len(phpstack), phpstack(16384));
    printf("ustack %%d%%s\\n", len(phpstack), ustack(16384));
}'''
# Native frames have an offset, or with debug information a line.
NATIVE = re.compile(rb'.*\+(0x)?[0-9a-f]+$|0x[0-9a-f]+$|.* \S+\.(c|h|S):\d+$')
# A fiber has its own C stack, without the PHP frames of its starter.
FIBER = b'Fiber::start'


class Stack:
    """A stack that strata printed: its kind, its depth, and checksums of the names, without and with lines."""
    def __init__(self, header):
        kind, length = header.split()
        self.kind, self.length = kind.decode(), int(length)
        self.depth = self.names = self.whole = 0
        self.first, self.marks, self.fiber = None, [], False

    def add(self, text):
        if text.startswith(b'['):
            self.marks.append(text.decode())
        elif self.kind == 'phpstack' or not NATIVE.match(text):
            self.first = self.first or text
            self.fiber |= text == FIBER
            self.depth += 1
            if self.depth > AROUND:
                self.whole = crc32(text + b'\n', self.whole)
                self.names = crc32(re.sub(rb':\d+$', b'', text) + b'\n', self.names)

    def agrees(self, depth, names):
        marked = self.marks and not (self.fiber and self.kind == 'ustack')
        return not marked and (self.length, self.depth, self.names) == (depth, depth, names)


def stacks(printed):
    """Yields the stacks of getmypid(); PHP itself may call getpid(), too."""
    stack = None
    for line in printed:
        text = line.strip()
        if re.match(rb'(php|u)stack \d+$', text):
            stack = Stack(text)
        elif text:
            stack.add(text)
        elif stack:
            if stack.first == b'getmypid':
                yield stack
            stack = None


class Tally:
    """The counts for the stacks of phpstack, or of ustack."""
    def __init__(self, account):
        self.account, self.at = account, 0
        self.n = self.names = self.lines = self.deepest = 0

    def find(self, stack, may_be_lost):
        """Returns PHP's own account of the stack. If strata reported lost events, it may be a later account."""
        for i in range(self.at, min(self.at + AHEAD, len(self.account)) if may_be_lost else self.at):
            if self.account[i][1] == stack.names:
                self.at = i
                break
        self.at += 1
        return self.account[self.at - 1] if self.at <= len(self.account) else (0, 0, 0)

    def add(self, stack, may_be_lost):
        depth, names, whole = self.find(stack, may_be_lost)
        right = stack.agrees(depth, names)
        self.n += 1
        self.deepest = max(self.deepest, depth)
        self.names += right
        self.lines += right and stack.whole == whole
        if not (right and stack.whole == whole) and self.n - self.lines <= 3:
            print(f'  {stack.kind} {self.n}: len {stack.length}, {stack.depth} frames, {stack.names:x} {stack.whole:x} '
                  f'{stack.marks}; PHP says {depth}, {names:x} {whole:x}')

    def is_good(self):
        return self.names >= ENOUGH * self.n and self.lines >= ENOUGH * self.n

    def __str__(self):
        return f'{self.n} with right names {self.names}, lines {self.lines}'


def compare(strata, calls, name, mode):
    """Returns whether all but one of a thousand stacks agree, and few events were lost."""
    with tempfile.TemporaryDirectory(dir='/tmp') as directory: # it exists whatever the root is
        program = pathlib.Path(directory) / 'account.php'
        program.write_bytes((HERE / 'account.php').read_bytes())
        process = traced.start(*phps.command(name, mode), program, calls, 1, directory, cwd='/tmp')
        version = process.stdout.readline().decode().strip()
        lines, printed, said = traced.beside(process, strata, SCRIPT % process.pid)
    account = [tuple(map(int, line.split())) for line in lines]
    tally = {'phpstack': Tally(account), 'ustack': Tally(account)}
    for stack in stacks(printed):
        tally[stack.kind].add(stack, b'lost' in said)
    lost = sum(map(int, re.findall(rb'(\d+) (?:events|stacks) lost', said))) # strata's own count
    ok = process.returncode == 0 and phps.is_in_mode(version, mode)
    for each in tally.values():
        ok &= each.is_good() and each.n + lost >= len(account) >= calls and each.n * 10 >= len(account) * 9
    print(f'php {name} {mode} ({version}): {len(account)} calls to {tally["phpstack"].deepest} frames deep; '
          f'phpstack: {tally["phpstack"]}; ustack: {tally["ustack"]}; {lost} lost '
          f'{said.decode().strip()}{"" if ok else " FAILED"}', flush=True)
    return ok


def wanted(names):
    """Yields (name, mode) of each PHP."""
    for name in names or phps.names():
        name, _, mode = name.partition(':')
        for each in [mode] if mode else phps.modes(name):
            yield name, each


def main(strata, calls=1000, *names):
    ok = True
    for name, mode in wanted(names):
        try:
            ok &= compare(strata, int(calls), name, mode)
        except absent.Missing as why:
            ok &= not phps.fails(name, why)
    return not ok


if __name__ == '__main__':
    if os.geteuid():
        print('needs root')
        sys.exit(77) # skipped
    sys.exit(main(*sys.argv[1:]))
