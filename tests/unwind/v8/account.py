#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""account.py - compares V8's own account with jsstack, frame by frame (name, file, line, column), for
stacks of random shape and depth.

    account.py STRATA NODE [STACKS [DEEPEST [NODE'S OPTIONS...]]]      root

If V8 has no name for a function, jsstack may have the name that the parser inferred."""
import collections
import json
import os
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / 'lib'))
import traced

# program.js reads from a file at 2^40 and the stack's number.
SCRIPT = r'''tracepoint:syscalls:sys_enter_pread64 /args.pos >= 1099511627776/ {
    printf("stack %d%s\n", args.pos - 1099511627776, jsstack(16384));
}'''
ENTRY = '        probe '


def stacks(out):
    """Frames from probe's caller on (None: it is not there), and marks, of each stack by number."""
    found, frames = {}, None
    for line in out:
        line = line.decode(errors='replace').rstrip('\n')
        if line.startswith('stack '):
            frames, marks, probed = [], [], False
            number = int(line[6:])
        elif not line and frames is not None:
            found[number] = frames if probed else None, marks
            frames = None
        elif line.startswith('        ['):
            marks.append(line.strip())
        elif line.startswith(ENTRY) and not probed:
            frames, probed = [], True
        elif frames is not None:
            frames.append(line.strip())
    return found


def fields(text):
    """(name, file, line, column) of a frame of V8's own account."""
    name, file, line, column = text.split('\t')
    return name, file[7:] if file.startswith('file:///') else file, int(line), int(column) if int(line) else 0


def seen(text):
    name, file, line, column = re.fullmatch(r'(.*?)(?: (\S*?)(?::(\d+))?(?::(\d+))?)?', text).groups()
    return name, '' if file in (None, '<anonymous>') else file, int(line or 0), int(column or 0)


def without_hidden(own, ours):
    """jsstack's frames without those of functions in C++ that older V8s leave out."""
    kept = []
    for frame in ours:
        at = len(kept)
        if seen(frame)[:2] in (('runInContext', ''), ('runMicrotasks', '')) and at < len(own) and fields(own[at])[1]:
            continue
        kept.append(frame)
    return kept


def compare(own, ours):
    """The number of frames, and how many names, lines and columns differ."""
    wrong = [0, 0, 0]
    for a, b in zip(own, ours):
        name, *place = fields(a)
        found, *here = seen(b)
        wrong[0] += bool(name) and name != found
        wrong[1] += place[:2] != here[:2]
        wrong[2] += place != here
    return max(len(own), len(ours)), [n + abs(len(own) - len(ours)) for n in wrong]


def start(strata, *command):
    return traced.start(*command)


def main(strata, node, count=600, deepest=300, *options, start=start):
    process = start(strata, node, *options, HERE / 'program.js', count, deepest)
    lines, printed, said = traced.beside(process, strata, SCRIPT)
    accounts = {int(number): json.loads(own) for number, own in
                (line[4:].split(b' ', 1) for line in lines if line.startswith(b'own '))}
    whole = stacks(printed)
    frames = marked = 0
    wrong = [0, 0, 0]
    kinds = collections.Counter()
    for number in sorted(accounts.keys() & whole.keys()):
        own, (ours, marks) = accounts[number], whole[number]
        ours = ours and without_hidden(own, ours)
        n, bad = compare(own, ours or [])
        if bad[0] and not wrong[0]:
            print(f'# stack {number}: {bad[0]} of {n} frames; V8 says {len(own)}, jsstack {len(ours or [])}')
        frames += n
        wrong = [a + b for a, b in zip(wrong, bad)]
        marked += bool(marks)
        if ours is None:
            kinds['probe is not in the stack'] += 1
            continue
        if len(own) != len(ours) or marks:
            kinds[f'{len(own)} frames by V8, {len(ours)} by jsstack {marks}'] += 1
        for a, b in zip(own, ours):
            if fields(a)[0] and fields(a)[0] != seen(b)[0] or fields(a)[1:] != seen(b)[1:]:
                kinds[f'{fields(a)} {seen(b)}'] += 1
                if len(own) != len(ours):
                    break  # the others follow from that
    for what, n in kinds.most_common(12):
        print(f'# {n} times: {what}')
    right = ', '.join(f'{100 - 100 * n / max(frames, 1):.3f} % of {what}'
                      for n, what in zip(wrong, ('names', 'lines', 'columns')))
    print(f'# {node} {" ".join(options)}: {len(whole)} stacks of {len(accounts)}, {frames} frames, '
          f'{right} right, {marked} stacks marked')
    if said:
        print(f'# strata said: {said.decode(errors="replace")}')
    return (len(accounts) < int(count) // 2 or len(accounts.keys() & whole.keys()) < len(accounts) or marked > 0 or wrong[0] > frames / 1000 or
            max(wrong[1:]) > frames / 200)


if __name__ == '__main__':
    sys.exit(77 if os.geteuid() else main(*sys.argv[1:]))
