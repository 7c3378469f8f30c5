#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""account.py - stacks random in shape and depth: V8's own account beside jsstack's, frame
by frame (name, file, line).

    account.py STRATA NODE [STACKS [DEEPEST [NODE'S OPTIONS...]]]      root

Where V8 has no name for a function, jsstack may have what the parser took it for."""
import collections
import json
import os
import pathlib
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


def told(text):
    """(name, file, line) of a frame of V8's own account, of jsstack's."""
    name, file, line = text.split('\t')
    return name, file[7:] if file.startswith('file:///') else file, int(line)


def seen(text):
    name, _, place = text.rpartition(' ')
    if not name:
        return text, '', 0
    file, _, line = place.rpartition(':')
    if not line.isdigit():
        return name, place, 0
    return name, '' if file == '<anonymous>' else file, int(line)


def without_hidden(own, ours):
    """jsstack's frames without those of functions in C++ that older V8s leave out."""
    kept = []
    for frame in ours:
        at = len(kept)
        if seen(frame) == ('runInContext', '', 0) and at < len(own) and told(own[at])[1]:
            continue
        kept.append(frame)
    return kept


def compare(own, ours):
    """Frames; of those names, lines that differ."""
    names = lines = 0
    for a, b in zip(own, ours):
        name, file, line = told(a)
        found = seen(b)
        names += bool(name) and name != found[0]
        lines += (file, line) != found[1:]
    more = abs(len(own) - len(ours))
    return max(len(own), len(ours)), names + more, lines + more


# A busy machine lost events, which strata tells.
LOST = 2


def main(strata, node, count=600, deepest=300, *options):
    lines, printed = traced.run(strata, SCRIPT, node, *options, HERE / 'program.js', count, deepest)
    accounts = {int(number): json.loads(own) for number, own in
                (line[4:].split(b' ', 1) for line in lines if line.startswith(b'own '))}
    whole = stacks(printed)
    frames = names = places = marked = wrong = 0
    kinds = collections.Counter()
    for number in sorted(accounts.keys() & whole.keys()):
        own, (ours, marks) = accounts[number], whole[number]
        ours = ours and without_hidden(own, ours)
        n, bad_names, bad_lines = compare(own, ours or [])
        if bad_names and not wrong:
            print(f'# stack {number}: {bad_names} of {n} frames; V8 says {len(own)}, jsstack {len(ours or [])}')
        wrong += bad_names > 0
        frames += n
        names += bad_names
        places += bad_lines
        marked += bool(marks)
        if ours is None:
            kinds['probe is not in the stack'] += 1
            continue
        if len(own) != len(ours) or marks:
            kinds[f'{len(own)} frames by V8, {len(ours)} by jsstack {marks}'] += 1
        for a, b in zip(own, ours):
            if told(a)[0] and told(a)[0] != seen(b)[0] or told(a)[1:] != seen(b)[1:]:
                kinds[f'{told(a)} {seen(b)}'] += 1
                if len(own) != len(ours):
                    break  # the others follow from that
    for what, n in kinds.most_common(12):
        print(f'# {n} times: {what}')
    right = f'{100 - 100 * names / max(frames, 1):.3f} % of names, {100 - 100 * places / max(frames, 1):.3f} % of lines'
    print(f'# {node} {" ".join(options)}: {len(whole)} stacks of {len(accounts)}, {frames} frames, '
          f'{right} right, {marked} stacks marked')
    if len(accounts.keys() & whole.keys()) < 0.99 * len(accounts):
        return LOST
    return (len(accounts) < int(count) // 2 or marked > 0 or names > frames / 1000 or places > frames / 200)


if __name__ == '__main__':
    sys.exit(77 if os.geteuid() else main(*sys.argv[1:]))
