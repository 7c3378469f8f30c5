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

SCRIPT = r'''tracepoint:syscalls:sys_enter_getuid { printf("stack %d%s\n", len(jsstack), jsstack(16384)); }'''
ENTRY = '        probe '


def stacks(out):
    """Frames and marks of each stack that probe is in, from its caller on."""
    frames = probed = None
    for line in out:
        line = line.decode(errors='replace').rstrip('\n')
        if line.startswith('stack '):
            frames, marks, probed = [], [], False
        elif not line and frames is not None:
            if probed:
                yield frames, marks
            frames = None
        elif line.startswith('        ['):
            marks.append(line.strip())
        elif line.startswith(ENTRY):
            frames, probed = [], True
        elif frames is not None:
            frames.append(line.strip())


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


def without_missing(own, ours):
    """V8's account without builtins that jsstack has not, and how many: TurboFan inlines some (map,
    forEach), and tells of them in what it keeps to undo its work alone."""
    kept = []
    for frame in own:
        name, file, _ = told(frame)
        if not file and len(own) > len(ours) and (
                len(kept) >= len(ours) or seen(ours[len(kept)])[:2] != (name, '')):
            continue
        kept.append(frame)
    return kept, len(own) - len(kept)


def compare(own, ours):
    """Frames; of those names, lines that differ; builtins that are missing, which count as both."""
    own, missing = without_missing(own, ours)
    names = lines = missing
    for a, b in zip(own, ours):
        name, file, line = told(a)
        found = seen(b)
        names += bool(name) and name != found[0]
        lines += (file, line) != found[1:]
    more = abs(len(own) - len(ours))
    return max(len(own), len(ours)) + missing, names + more, lines + more, missing


# A busy machine lost an event, which strata tells: what follows is compared in vain.
LOST = 2


def main(strata, node, count=600, deepest=300, *options):
    lines, printed = traced.run(strata, SCRIPT, node, *options, HERE / 'program.js', count, deepest)
    accounts = [json.loads(line[4:]) for line in lines if line.startswith(b'own ')]
    whole = list(stacks(printed))
    frames = names = places = marked = inlined = wrong = 0
    kinds = collections.Counter()
    for i, (own, (ours, marks)) in enumerate(zip(accounts, whole)):
        n, bad_names, bad_lines, missing = compare(own, ours)
        if bad_names and not wrong:
            print(f'# stack {i}: {bad_names} of {n} frames; V8 says {len(own)}, jsstack {len(ours)}')
        wrong += bad_names > 0
        inlined += missing
        own = without_missing(own, ours)[0]
        frames += n
        names += bad_names
        places += bad_lines
        marked += bool(marks)
        if len(own) != len(ours) or marks:
            kinds[f'{len(own)} frames by V8, {len(ours)} by jsstack {marks}'] += 1
        for a, b in zip(own, ours):
            if told(a)[0] and told(a)[0] != seen(b)[0] or told(a)[1:] != seen(b)[1:]:
                kinds[f'{told(a)} {seen(b)}'] += 1
    for what, n in kinds.most_common(12):
        print(f'# {n} times: {what}')
    right = f'{100 - 100 * names / max(frames, 1):.3f} % of names, {100 - 100 * places / max(frames, 1):.3f} % of lines'
    print(f'# {node} {" ".join(options)}: {len(whole)} stacks of {len(accounts)}, {frames} frames, '
          f'{right} right, {inlined} inlined builtins missing, {marked} stacks marked')
    if len(whole) != len(accounts):
        return LOST
    return (len(accounts) < int(count) // 2 or marked > 0 or names > frames / 1000 or places > frames / 200)


if __name__ == '__main__':
    sys.exit(77 if os.geteuid() else main(*sys.argv[1:]))
