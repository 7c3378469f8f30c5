#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""account.py STRATA CALLS [RUBY...] - compares caller_locations with rubystack and with Ruby's frames of ustack, frame by
frame, for random stacks: the labels of all frames, and path and line of those that are not functions in C. A RUBY is a
name of rubies.py. Prints TAP."""
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / 'lib'))
import absent
import rubies
import traced
from tap import Cases

STRATA, CALLS, NAMES = sys.argv[1], sys.argv[2], sys.argv[3:]
ENOUGH = 0.999
SCRIPT = '''tracepoint:syscalls:sys_enter_getpgid /pid == %d/ {
    printf("rubystack%%s\\n", rubystack(4096));
    printf("ustack%%s\\n", ustack(4096));
}'''
NATIVE = re.compile(r'.*\+(0x)?[0-9a-f]+$|0x[0-9a-f]+$|.* \S+\.(c|h|S):\d+$')


def stacks(printed):
    """Yields (kind, frames) of each stack."""
    kind, frames = None, []
    for line in (raw.decode().strip() for raw in printed):
        if line in ('rubystack', 'ustack'):
            kind, frames = line, []
        elif line and (kind == 'rubystack' or not NATIVE.match(line)):
            frames.append(line)
        elif not line and kind:
            yield kind, frames
            kind = None


def as_in_3_4(frames):
    """Returns the frames without those that caller_locations omits from 3.4 on: rescue and ensure stand for the method, and
    eval has the label of the method around it, which is not judged."""
    kept, skipped = [], False
    for frame in frames:
        inner = re.match(r'(rescue|ensure) in (.*)', frame)
        if not skipped:
            kept.append(inner.group(2) if inner else frame)
        skipped = bool(inner)
    return kept


def without_class(label):
    """Returns the label as before 3.4: go for Shop#go, block in go for block in Shop#go."""
    return label if label.startswith('<') else re.sub(r'^(.* in )?[\w:]+[.#](?=\w+[?!=]?$)', lambda m: m.group(1) or '', label)


def agree(frames, account, version):
    """The first frame is getpgid itself."""
    if version >= (3, 4):
        frames, account = as_in_3_4(frames), [(without_class(label), place) for label, place in account]
    if len(frames) != len(account) + 1 or frames[0] != 'getpgid':
        return False
    for frame, (label, place) in zip(frames[1:], account):
        if frame == f'<compiled> {place}':
            continue
        if frame != f'{label} {place}' and (frame != label or re.match(r'block|go$|note$|plain$|rescue|ensure|<', label)):
            return False
    return True


def compare(cases, name):
    with tempfile.TemporaryDirectory(dir='/tmp') as directory:  # it exists whatever the root is
        program = pathlib.Path(directory) / 'account.rb'
        program.write_bytes((HERE / 'account.rb').read_bytes())
        process = traced.start(rubies.get(name), program, CALLS, 1, cwd='/tmp')
        version = process.stdout.readline().decode().strip()
        lines, printed, said = traced.beside(process, STRATA, SCRIPT % process.pid)
    accounts = []
    for line in lines:
        words = line.decode().rstrip('\n').split('\t')
        accounts.append(list(zip(words[::2], words[1::2])))
    found = {'rubystack': [], 'ustack': []}
    for kind, frames in stacks(printed):
        found[kind].append(frames)
    for kind, have in found.items():
        number = tuple(map(int, version.split('.')[:2]))
        right = [agree(frames, account, number) for frames, account in zip(have, accounts)]
        wrong = right.index(False) if False in right else 0
        detail = have[wrong:wrong + 1] + accounts[wrong:wrong + 1]
        cases.check(len(have) == len(accounts) == int(CALLS) and sum(right) >= ENOUGH * len(accounts),
                    f'Ruby {version}: {kind}: {sum(right)} of {len(accounts)} stacks agree', len(have), *detail, said.decode())


def main():
    cases = Cases()
    for name in NAMES or rubies.names():
        try:
            rubies.get(name)
        except absent.Missing as e:
            cases.count += 1
            cases.failed += absent.tap_fails(cases.count, name, e)
            continue
        compare(cases, name)
    return cases.done()


sys.exit(absent.as_root(main))
