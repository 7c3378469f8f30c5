# SPDX-License-Identifier: Apache-2.0
"""liars.py - processes that look like an interpreter and have false data: strata prints each stack, a wrong one with its
mark; nothing hangs, crashes or grows, and no control character reaches the terminal.

A program is the hostile.c of a language, built as one of its versions; the name ends in the version: hostile-perl-36. Its
argument is the lie; it calls getppid CALLS times."""
import dataclasses
import os
import re
import resource
import subprocess
import time

import absent
from tap import Cases

CALLS = 200
LIMIT = 500      # frames
UNREADABLE = '[interpreter frame not readable]'
SECONDS = 60 * int(os.environ.get('STRATA_SLOW', 1))  # STRATA_SLOW: how many times slower this machine is
MEGABYTES = 600  # of the tracer; with true data it needs about 100
SCRIPT = '''uprobe:libc:getppid {{
    @calls = count();
    @deepest = max(len({builtin}));
    @p[{builtin}(addr, {limit})] = count();
    @u[ustack(addr, {limit})] = count();
}}'''


@dataclasses.dataclass
class Liars:
    language: str      # as in "[no Perl frames]"
    builtin: str       # perlstack
    lies: dict         # lie: (marks that the stack may end in or None for all, least and greatest number of frames)
    unknown: tuple     # programs that end so have an unknown version: no frame is shown, and each stack has a mark
    names: dict = dataclasses.field(default_factory=dict)  # lie: expression that each name matches
    never: str = None  # expression that no frame matches
    limits: tuple = ('[frame limit]',)  # marks that each stack may end in

    def lies_of(self, program):
        """Returns the lies of a program: of an unknown version, the truth."""
        return {'truth': ({UNREADABLE}, 0, 0)} if program.endswith(self.unknown) else self.lies


def stacks(out):
    """Yields (lines, count) of @p."""
    for found in re.finditer(r'^@p\[(.*?)\]: (\d+)$', out, re.M | re.S):
        yield [line.strip() for line in found.group(1).splitlines() if line.strip()], int(found.group(2))


def stack_complaints(liars, lines, mode, lie):
    ends, least, most = lie
    marks = [line for line in lines if re.fullmatch(r'\[[a-zA-Z ,]+\]', line) and line != f'[no {liars.language} frames]']
    frames = [line for line in lines if not line.startswith('[')]
    if ends is not None and (marks[0] if marks else '') not in {*ends, *liars.limits}:
        yield f'marked {marks}'
    if not least <= len(frames) <= most:
        yield f'{len(frames)} frames'
    if not all(re.match(liars.names.get(mode, ''), frame) for frame in frames):
        yield f'names {frames}'
    if liars.never and any(re.search(liars.never, frame) for frame in frames):
        yield f'names {frames}'


def complaints(liars, status, out, elapsed, mode, lie):
    calls = re.search(r'^@calls: (\d+)$', out, re.M)
    if status:
        yield f'status {status}'
    if elapsed > SECONDS:
        yield f'{elapsed:.0f} seconds'
    if not calls or int(calls.group(1)) != CALLS:
        yield 'calls are missing'
    if re.search(r'[\x00-\x08\x0b-\x1f\x7f]', out):
        yield 'control characters'
    if sum(n for _, n in stacks(out)) != CALLS:
        yield 'stacks are missing'
    for lines, _ in stacks(out):
        yield from stack_complaints(liars, lines, mode, lie)


def run(cases, liars, strata, program, mode, lie):
    start = time.monotonic()
    script = SCRIPT.format(builtin=liars.builtin, limit=LIMIT)
    try:
        done = subprocess.run([strata, '-e', script, '-c', f'{program} {mode}'], capture_output=True, timeout=2 * SECONDS)
        status, out, err = done.returncode, done.stdout.decode(errors='replace'), done.stderr.decode(errors='replace')
    except subprocess.TimeoutExpired:
        status, out, err = 'time out', '', ''
    wrong = list(complaints(liars, status, out, time.monotonic() - start, mode, lie))
    cases.check(not wrong, f'{os.path.basename(program)} {mode}', '\n'.join([*wrong[:5], err, out[:2000]]))


def main(liars, strata, *programs):
    """Runs each program with each lie. Returns the exit status."""
    def checks():
        cases = Cases()
        for program in programs:
            for mode, lie in liars.lies_of(program).items():
                run(cases, liars, strata, program, mode, lie)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
        cases.check(peak < MEGABYTES, f'the tracer stays below {MEGABYTES} MB', f'{peak} MB')
        return cases.done()

    return absent.as_root(checks)
