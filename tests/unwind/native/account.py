#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""account.py - programs whose stacks are known: chain.c prints its frames, and strata prints the
stack at a uprobe there. Names and len(ustack) must be equal.

    account.py STRATA CHAIN...      root"""
import os
import re
import subprocess
import sys

# A level has two or more frames. STRATA_FEW is set on machines where strata takes seconds to start.
DEPTHS = (10, 4800) if os.environ.get('STRATA_FEW') else (1, 10, 100, 1000, 4800)
SCRIPT = 'uprobe:%s:marker { printf("%%d%%s\\n", len(ustack), ustack(16384)); exit(); }'


def own_names(chain):
    frames = []
    for line in chain.stdout:
        line = line.strip()
        if line == 'ready':
            return frames
        frames.append(line)
    sys.exit('the program ended early')


def seen(strata, program, pid):
    done = subprocess.run([strata, '-q', '-p', str(pid), '-e', SCRIPT % program],
                          capture_output=True, text=True, timeout=60)
    lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
    if not lines:
        sys.exit(done.stderr or 'nothing was printed')
    return int(lines[0]), [plain(line) for line in lines[1:]]


def plain(line):
    """Returns a C++ name in the form of chain.c: without class, arguments or .cold."""
    name = re.sub(r'(\(.*\))?\+\d+$', '', line)
    return name.split('::')[-1].lstrip('~').split('.')[0]


def agree(want, got):
    """'*' in want stands for any number of a library's frames. want begins with marker: the
    probe is at its first instruction."""
    pattern = want[:]
    at = 0
    while pattern:
        name = pattern.pop(0)
        if name == '*':
            while at < len(got) and (not pattern or got[at] != pattern[0]):
                at += 1
        elif at < len(got) and got[at] == name:
            at += 1
        else:
            return f'frame {at}: {got[at] if at < len(got) else "the end"}, not {name}'
    # the callers of main are libc's; at least _start is among them
    return None if 1 <= len(got) - at <= 3 and got[-1] == '_start' else \
        f'after main: {got[at:at + 4]}'


def main(strata, chains):
    n, failed = 0, 0
    print(f'1..{len(chains) * len(DEPTHS)}')
    for program in chains:
        program = os.path.abspath(program)
        for depth in DEPTHS:
            n += 1
            chain = subprocess.Popen([program, str(depth), 'loop'], stdout=subprocess.PIPE,
                                     text=True)
            want = own_names(chain)
            length, got = seen(strata, program, chain.pid)
            chain.kill()
            wrong = agree(want, got)
            if not wrong and length != len(got):
                wrong = f'len(ustack) is {length} of {len(got)} frames'
            failed += bool(wrong)
            print(f'{"not " if wrong else ""}ok {n} - {os.path.basename(program)} '
                  f'depth {depth}: {len(got)} frames', flush=True)
            if wrong:
                print('#', wrong)
    return failed > 0


if __name__ == '__main__':
    if os.geteuid():
        print('1..0 # SKIP needs root')
        sys.exit(0)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
