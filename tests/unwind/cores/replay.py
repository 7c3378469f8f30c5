#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""replay.py - walks the core files of recorded arm64 processes: compares the stack of the thread that
crashed with the program's own account, frame by frame (name, file, line); every thread must be walked
to its end. Java's cores have many threads with an account. See make.py, make_node.py, make_java.py.

    replay.py STRATA go|node|java"""
import json
import lzma
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# Functions between Go's and C's frames: Go's own account has a stand-in for them.
GLUE = ('crosscall2 ', 'runtime.asmcgocall ', 'runtime.systemstack_switch ')
IS_C = re.compile(r'\+(0x[0-9a-f]+|\d+)$')  # Go's and node's frames end in a line, or in a name
# The innermost frames, by the kind of the crash; the account begins after main.probe.
INNERMOST = {'leaf': ['main.leaf', 'main.die', 'main.init.'],
             'copy': ['runtime.memmove', 'main.copies', 'main.die', 'main.init.']}


def stacks_of(strata, core, *where):
    """The lines of each thread's stack, by thread id; the thread that crashed is the first."""
    out = subprocess.run([strata, '--unwind', core, *where], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {part.split()[1]: [line.strip() for line in part.splitlines()[1:] if line.strip()] for part in out.split('\n\n')
            if part.startswith('Thread ')}


def threads(strata, core, *where):
    return list(stacks_of(strata, core, *where).values())


def cut(stacks):
    """The first error in any of the stacks, or None."""
    for n, stack in enumerate(stacks):
        marks = [line for line in stack if line.startswith('[') and line.endswith(']')]
        if marks or not stack:
            return f'thread {n}: {marks or "no frames"}: {stack}'
    return None


def compare_go(how, account, died):
    """The first difference, or None."""
    start = next((i for i, line in enumerate(died) if line.startswith('main.probe ')), None)
    if start is None:
        return f'no probe: {died}'
    for name, line in zip(INNERMOST.get(how, []), died):
        if not line.startswith(name):
            return f'{line}, not {name}'
    got = [line for line in died[start + 1:] if not line.startswith(GLUE) and not IS_C.search(line)]
    for n, (a, b) in enumerate(zip(account, got)):
        if a != b:
            return f'frame {n}: {b}; Go says {a}'
    return None if len(account) == len(got) else f'{len(got)} frames; Go says {len(account)}: {got[-3:]}'


def replay_go(strata, name, core, directory):
    program, case = name.rsplit('.', 1)
    exe = pathlib.Path(directory, 'exe')
    exe.write_bytes(lzma.decompress((HERE / f'{program}.exe.xz').read_bytes()))
    account = (HERE / f'{name}.account').read_text().splitlines()
    stacks = threads(strata, core, '--exe', exe)
    return cut(stacks) or compare_go(case.partition('-')[2], account, stacks[0]), len(account), len(stacks)


def unpack(archive, directory):
    """Unpacks files that are mostly zeros as sparse files."""
    with tarfile.open(archive) as tar:
        for member in tar:
            path, data = directory / member.name, tar.extractfile(member)
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(path, 'wb') as out:
                for block in iter(lambda: data.read(1 << 16), b''):
                    if block.strip(b'\0'):
                        out.write(block)
                    else:
                        out.seek(len(block), 1)
                out.truncate(member.size)


def places(account, got):
    """The fields of a frame, in node's account and in strata's output: name, file, line, and column if there is one."""
    name, file, *place = account.split('\t')
    found, *where = re.fullmatch(r'(.*?)(?: (\S*?)(?::(\d+))?(?::(\d+))?)?', got).groups()
    where = ['' if where[0] in (None, '<anonymous>') else where[0], *(n or '0' for n in where[1:])]
    node = [name or found, file.removeprefix('file://'), *place]
    return node, [found, *where][:len(node)]


def compare_node(how, account, died):
    died = [line for line in died if not IS_C.search(line)]
    start = next((i for i, line in enumerate(died) if line.startswith('probe ')), None)
    inner = [line.split(':')[0] for line in died[:start]]
    if start is None or 'stay /cores/core.js' not in inner:
        return f'no probe: {died}'
    if ('call' if how == 'call' else 'spin') + ' /cores/core.js' not in inner:
        return f'innermost: {inner}'
    got = died[start + 1:]
    for n, (a, b) in enumerate(zip(account, got)):
        node, shown = places(a, b)
        if node != shown:
            return f'frame {n}: {shown}; node says {node}'
    return None if len(account) == len(got) else f'{len(got)} frames; node says {len(account)}'


def replay_node(strata, name, core, directory):
    program, case = name.rsplit('.', 1)
    if not (directory / program).exists():
        unpack(HERE / f'{program}.files.tar.xz', directory / program)
    account = json.loads((HERE / f'{name}.account').read_text())
    stacks = threads(strata, core, '--sysroot', directory / program)
    return cut(stacks) or compare_node(case.partition('-')[2], account, stacks[0]), len(account), len(stacks)


# What a thread of Core.java may run when it is interrupted: the method that it stays in, and methods called there.
MOVING = {
    'turns': ('Core.turns', r'Core\.(even|odd) '),
    'shapes': ('Core.shapes', r'Core(\$\w+)?\.(area|add|lambda\$\S+) |java\.lang\.Object\.<init> |jdk\.internal\.misc\.Unsafe\.'),
    'copies': ('Core.copies', r'java\.lang\.System\.arraycopy '),
    'clock': ('Core.clock', r'java\.lang\.System\.nanoTime '),
    'texts': ('Core.texts', r'java\.|jdk\.internal\.|sun\.'),
}
KINDS = {*MOVING, 'spin', 'sorted', 'reads', 'invalid'}


# Thread.getStackTrace() shows methods that Java hides otherwise.
HIDDEN = re.compile(r'\S*\$\$Lambda|java\.lang\.invoke\.|java\.security\.AccessController\.executePrivileged ')


def java_frames(stack):
    """The frames of Java, in strata's stack or in Java's; classes of accessors have a number in their names."""
    return [re.sub(r'(GeneratedMethodAccessor)\d+', r'\1', line) for line in stack
            if not IS_C.search(line) and not line.startswith('<') and not HIDDEN.match(line)]


def wrong_calls(kind, inner):
    """The first frame, of those above the method that stays, that cannot be there, or None."""
    for n, line in enumerate(reversed(inner)):
        if not re.match(MOVING[kind][1], line):
            return line
        if kind == 'turns' and not line.startswith(('Core.even', 'Core.odd')[n % 2]):
            return line
    return None


def compare_java(kind, account, got):
    """The first difference, or None."""
    got, account = java_frames(got), java_frames(account)
    if kind in MOVING:
        stays = MOVING[kind][0] + ' '
        start, known = (next((i for i, line in enumerate(s) if line.startswith(stays)), None) for s in (got, account))
        if start is None or known is None:
            return f'not in {stays}: {got}'
        wrong = wrong_calls(kind, got[:start])
        if wrong:
            return f'{wrong} in {stays}: {got}'
        got, account = got[start:], account[known:]
    for n, (a, b) in enumerate(zip(account, got)):
        if a != b:
            return f'frame {n}: {b}; Java says {a}'
    return None if len(account) == len(got) else f'{len(got)} frames; Java says {len(account)}: {got[-3:]}'


def accounts_of(lines):
    """Returns {kind: (thread id, frames)} of Core.java's lines."""
    accounts = {}
    for line in lines:
        kind, tid, *frames = line.rstrip('\n').split('\t')
        accounts[kind] = tid, [re.sub(r' null:-?\d+$| (\S+):-[12]$', r' \1', f).rstrip() for f in frames]
    return accounts


def replay_java(strata, name, core, directory):
    program = name.rsplit('.', 1)[0]
    if not (directory / program).exists():
        unpack(HERE / f'{program}.files.tar.xz', directory / program)
    accounts = accounts_of((HERE / f'{name}.account').read_text().splitlines())
    stacks = stacks_of(strata, core, '--sysroot', directory / program)
    wrong = cut(stacks.values()) or (f'accounts of {sorted(accounts)}' if accounts.keys() != KINDS else None)
    for kind, (tid, account) in accounts.items():
        found = compare_java(kind, account, stacks.get(tid, []))
        wrong = wrong or (f'{kind}, thread {tid}: {found}' if found else None)
    return wrong, sum(len(account) for _, account in accounts.values()), len(stacks)


def main(strata, language):
    cores = sorted(HERE.glob(f'{language}*.core.xz'))
    print(f'1..{len(cores)}')
    failed = not cores
    with tempfile.TemporaryDirectory() as d:
        core = pathlib.Path(d, 'core')
        for n, path in enumerate(cores, 1):
            name = path.name.removesuffix('.core.xz')
            core.write_bytes(lzma.decompress(path.read_bytes()))
            replay = {'go': replay_go, 'node': replay_node, 'java': replay_java}[language]
            wrong, frames, stacks = replay(strata, name, core, pathlib.Path(d))
            print(f"{'not ' if wrong else ''}ok {n} - {name}: {frames} frames, {stacks} threads")
            if wrong:
                print('#', wrong)
            failed |= bool(wrong)
    return failed


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
