# SPDX-License-Identifier: Apache-2.0
"""accounts.py - compares stacks that a program has noted itself with those that strata prints."""
import absent
from tap import Cases

ENOUGH = 0.999  # of the stacks agree


def stacks(printed, builtin, native):
    """Returns the stacks that a script has printed after a line with builtin or 'ustack', as lists of frames by these words.
    Leaves out frames of ustack that the expression native matches."""
    found = {builtin: [], 'ustack': []}
    kind, frames = None, []
    for line in (raw.decode().strip() for raw in printed):
        if line in found:
            kind, frames = line, []
        elif line and (kind == builtin or not native.match(line)):
            frames.append(line)
        elif not line and kind:
            found[kind].append(frames)
            kind = None
    return found


def compare(cases, title, found, noted, calls, agree, said, show=str):
    """Checks found, a dictionary of the stacks of each kind: agree(frames, account) is true for nearly all of the accounts
    noted, at least one for each of the calls. show makes the first two that differ readable; said: strata's messages."""
    for kind, have in found.items():
        right = [agree(frames, account) for frames, account in zip(have, noted)]
        wrong = right.index(False) if False in right else 0
        cases.check(len(have) == len(noted) >= int(calls) and sum(right) >= ENOUGH * len(noted),
                    f'{title}: {kind}: {sum(right)} of {len(noted)} stacks agree', len(have),
                    *map(show, have[wrong:wrong + 1] + noted[wrong:wrong + 1]), said.decode())


def each(names, get, check):
    """Calls check(cases, name) for each version of a language that get(name) has. Returns the exit status, as root."""
    def checks():
        cases = Cases()
        for name in names:
            try:
                get(name)
            except absent.Missing as e:
                cases.count += 1
                cases.failed += absent.tap_fails(cases.count, name, e)
                continue
            check(cases, name)
        return cases.done()

    return absent.as_root(checks)
