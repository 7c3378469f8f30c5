#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""busy.py - samples a program that raises and leaves blocks all the time (busy.rb).

    busy.py STRATA HZ SAMPLES [VERSION]...

99 % of the stacks are whole to the thread's start: an exception is often between the loop that it has ended and the next one.
None has an impossible chain of calls: in 2.7 a frame is the newest one before it is written, and has an older call's words for
some instructions (push.c), which 1999 HZ and 40,000 samples show."""
import collections
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / 'lib')]
import absent
import rubies
import traced

SCRIPT = ('config = { max_map_keys = 100000 } profile:hz:%d { @[ustack] = count(); if (++@n >= %d) { exit(); } } '
          'interval:s:%d { exit(); }')
# The next frame of the program below each one, where this does not depend on functions in C.
CALLERS = {
    'deep': 'block in deep|rescues|ensures|rescue in ensures', 'rescues': 'block in main', 'ensures': 'block in main', 'throws': 'block in main',
    'breaks': 'block in main', 'returns': 'block in main', 'retries': 'block in main', 'rescue in rescues': 'rescues',
    'ensure in ensures': 'ensures', 'rescue in ensures': 'ensures', 'rescue in retries': 'retries', 'block in deep': 'deep',
    'block in ensures': 'ensures|ensure in ensures', 'block in throws': 'throws', 'block (2 levels) in throws': 'block in throws',
    'block (3 levels) in throws': 'block (2 levels) in throws', 'block in breaks': 'breaks', 'block in returns': 'returns',
    'block in main': 'main', 'main': '<main>', '<main>': None,
}
OWN = re.compile(r'(.*) \S*busy\.rb:~?\d+$')


def stacks_of(text):
    """Yields (frames, samples) of each stack of @."""
    for found in re.finditer(r'^@\[\n(.*?)^\]: (\d+)$', text, re.M | re.S):
        yield [line.strip() for line in found.group(1).splitlines()], int(found.group(2))


def label(frame):
    """Returns the label of a frame of the program without the class, or None."""
    found = OWN.match(frame)
    return re.sub(r'Object#', '', found.group(1)) if found else None


def is_possible(frames):
    """Whether each frame of the program has a possible caller; a stack that says that it ends early lacks some."""
    own = [name for name in map(label, frames) if name]
    for name, caller in zip(own, [*own[1:], None]):
        if name not in CALLERS:
            return False
        if caller is None and not frames[-1].startswith('[') and CALLERS[name] is not None and 'block in <main>' not in own:
            return False
        if caller is not None and (CALLERS[name] is None or caller not in CALLERS[name].split('|')):
            return False
    return True


def check(strata, hz, samples, name):
    program = traced.start(rubies.get(name), HERE / 'busy.rb')
    assert program.stdout.readline() == b'begun\n'
    done = subprocess.run([strata, '-p', str(program.pid), '-e', SCRIPT % (hz, samples, 10 * samples // hz + 20)], stdout=subprocess.PIPE, text=True,
                          errors='replace', check=True)
    program.communicate()
    total = whole = wrong = 0
    bad, impossible = collections.Counter(), []
    for frames, n in stacks_of(done.stdout):
        total += n
        whole += n * (not frames[-1].startswith('['))
        possible = is_possible(frames)
        wrong += n * (not possible)
        if not possible:
            impossible.append(('\n    '.join(frames), n))
        elif frames[-1].startswith('['):
            bad['\n    '.join(frames)] += n
    fine = total >= 0.99 * samples and whole >= 0.99 * total and not wrong
    print(f'{"ok" if fine else "not ok"} {name}: {total} samples, {100 * whole / max(total, 1):.2f} % whole, {wrong} with an '
          f'impossible chain of calls', flush=True)
    for text, n in [*impossible[:5], *bad.most_common(3)]:
        print(f'  {n}:\n    {text}')
    return fine


def main(strata, hz, samples, *names):
    failed = False
    for name in names or rubies.names():
        try:
            failed |= not check(strata, int(hz), int(samples), name)
        except absent.Missing as e:
            failed |= absent.fails(name, e)
    return failed


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
