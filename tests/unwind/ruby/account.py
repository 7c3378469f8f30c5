#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""account.py STRATA CALLS [RUBY...] - compares caller_locations with rubystack and with Ruby's frames of ustack, frame by
frame, for random stacks: the labels of all frames, and path and line of those that are not functions in C. The labels of
3.4 have classes; those of 3.3 do not, there each class is one that has the method. A RUBY is a name of rubies.py. Prints
TAP."""
import functools
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / 'lib'))
import accounts
import rubies
import traced

STRATA, CALLS, NAMES = sys.argv[1], sys.argv[2], sys.argv[3:]
SCRIPT = '''tracepoint:syscalls:sys_enter_getpgid /pid == %d/ {
    printf("rubystack%%s\\n", rubystack(4096));
    printf("ustack%%s\\n", ustack(4096));
}'''
NATIVE = re.compile(r'.*\+(0x)?[0-9a-f]+$|0x[0-9a-f]+$|.* \S+\.(c|h|S):\d+$')


OWN = set(re.findall(r'def (?:\w+\.)?(\w+)', (HERE / 'account.rb').read_text())) | {'made_by_method'}
MADE = {'Shop#make', 'COPY#make'}  # a block that is a method has the name of the method that made it
NAMELESS = {'own', 'call'}  # methods of an object's own class, or of a class without a name
CLASS = re.compile(r'(?P<before>(?:(?:rescue|ensure|block(?: \(\d+ levels\))?) in )*)(?P<class>[A-Z][\w:]*[.#])(?P<method>\w+[?!=]?)$')


def without_class(label, methods):
    """Returns the label of a frame as before 3.4: go for Shop#go, block in go for block in Shop#go; None if the class has no such
    method, or the label no class though its method has one."""
    found = CLASS.match(label)
    if found:
        return found['before'] + found['method'] if found['class'] + found['method'] in methods else None
    return label if label.endswith('>') or re.sub('.* ', '', label) in NAMELESS else None


def agree(frames, account, version, methods):
    """The first frame is getpgid itself. Functions in C have no place; caller_locations gives them that of their caller."""
    if len(frames) != len(account) + 1 or not frames or frames[0] != ('getpgid' if version < (3, 3) else 'Process.getpgid'):
        return False
    for frame, (label, place) in zip(frames[1:], account):
        own = label.endswith('>') or re.sub(r'.*[ .#]', '', label) in OWN
        is_c = not own and not frame.endswith(place)
        name = frame if is_c else frame.removesuffix(f' {place}')
        if version[:2] == (3, 3):
            name = without_class(name, methods)
        if name != label:
            return False
    return True


def compare(cases, name):
    with tempfile.TemporaryDirectory(dir='/tmp') as directory:  # it exists whatever the root is
        program = pathlib.Path(directory) / 'account.rb'
        program.write_bytes((HERE / 'account.rb').read_bytes())
        process = traced.start(rubies.get(name), program, CALLS, 1, cwd='/tmp')
        version = process.stdout.readline().decode().strip()
        lines, printed, said = traced.beside(process, STRATA, SCRIPT % process.pid)
    noted, methods = [], MADE.union(lines[0].decode().rstrip('\n').split('\t'))
    for line in lines[1:]:
        words = line.decode().rstrip('\n').split('\t')
        noted.append(list(zip(words[::2], words[1::2])))
    number = tuple(map(int, version.split('.')[:2]))
    accounts.compare(cases, f'Ruby {version}', accounts.stacks(printed, 'rubystack', NATIVE), noted, CALLS,
                     functools.partial(agree, version=number, methods=methods), said)


sys.exit(accounts.each(NAMES or rubies.names(), rubies.get, compare))
