#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py - @[ustack] of all that runs, while programs of four kinds do: their stacks are
whole, and go from what each is always below to where it began.

    run.py STRATA LIVE       root; LIVE: live.cc
    run.py --build ARCH      builds Go's programs only, for a machine without a toolchain"""
import os
import pathlib
import platform
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'go'))
import toolchains  # noqa: E402
from absent import Missing, tap_fails  # noqa: E402

ARCH = {'x86_64': 'amd64', 'aarch64': 'arm64'}[platform.machine()]
GO = ('1.19', '1.27')
SECONDS = 6
# In the first second userspace gets to know who is there.
SCRIPT = f"""profile:hz:99 /elapsed < 1000000000/ {{ @first[pid, ustack] = count(); }}
profile:hz:99 /elapsed >= 1000000000/ {{ @[pid, ustack] = count(); }}
interval:s:{SECONDS} {{ exit(); }}"""
PYTHON = '''
import json, re, zlib
def inner(n): return zlib.crc32(json.dumps([str(i) for i in range(n)]).encode() * 20)
def middle(n): return sorted(range(n), key=lambda i: inner(i) if i < 20 else -i)
class Work:
    def outer(self):
        while True:
            for n in range(60): middle(n)
Work().outer()
'''
LEAST, WHOLE, OWN = 25, 99.0, 50.0 # samples; per cent


def go_program(version, arch):
    path, source = toolchains.CACHE / 'programs' / f'live-{version}-{arch}', HERE / 'go' / 'main.go'
    try:
        if not path.exists() or path.stat().st_mtime < source.stat().st_mtime:
            toolchains.build(version, path, [source], arch=arch)
        return path
    except Missing as why:
        return why


def programs(live):
    """Name, command, the frames, innermost first, that its own stacks end in, and what those of
    the language's runtime do."""
    # Between main and _start there are one or two of libc's, by its version.
    start = [r'(__libc_start_\w+\+\d+\n|libc\.so\.6\+0x\w+\n){1,2}', r'_start\+\d+\n']
    yield 'Python', ['python3', '-S', '-E', '-c', PYTHON], [r'Work\.outer <string>:[78]\n', r'<module> <string>:9\n', '(?s:.*)', *start], None
    yield 'C++', [live], [r'outer\+\d+\n', r'main\+\d+\n', *start], None
    for version in GO:
        yield f'Go {version}', [go_program(version, ARCH)], \
            [r'main\.outer \S+:\d+\n', r'main\.main \S+:\d+\n', r'runtime\.main \S+:\d+\n', r'runtime\.goexit \S+:\d+\n'], \
            r'runtime\.(goexit|mstart|mcall|morestack|rt0_go)(\.abi0)? \S+:\d+\n'


def stacks(text, name):
    """{pid: [(count, lines)]} of @name[pid, ustack]."""
    found = {}
    for pid, body, count in re.findall(rf'^@{name}\[(\d+), ?\n(.*?)^\]: (\d+)', text, re.S | re.M):
        found.setdefault(int(pid), []).append((int(count), re.sub('^ +', '', body, flags=re.M)))
    return found


def judge(seen, end, others):
    """Stacks that are the program's own; marked as cut; that end where none should."""
    own, cut, wrong = [], [], []
    for count, text in seen:
        if re.search(r'^\[.*\]$', text, re.M):
            cut.append((count, text))
        elif re.search(''.join(end) + r'\Z', text):
            own.append((count, text))
        elif not others or not re.search(others + r'\Z', text):
            wrong.append((count, text))
    return own, cut, wrong


def samples(seen):
    return sum(count for count, _ in seen)


def main(strata, live):
    wanted = list(programs(live))
    missing = [(name, command[0]) for name, command, *_ in wanted if isinstance(command[0], Missing)]
    started = [(name, subprocess.Popen(command, stdout=subprocess.DEVNULL), *ends)
               for name, command, *ends in wanted if not isinstance(command[0], Missing)]
    try:
        time.sleep(2)
        # The tables of their files are made and kept, whatever that takes while all of them run.
        for _, process, *_ in started:
            subprocess.run([strata, '--unwind', str(process.pid)], stdout=subprocess.DEVNULL, check=True, timeout=120)
        done = subprocess.run([strata, '-q', '-e', SCRIPT], capture_output=True, text=True, timeout=120)
    finally:
        for _, process, *_ in started:
            process.kill()
            process.wait()
    found, first = stacks(done.stdout, ''), stacks(done.stdout, 'first')
    print(f'1..{len(wanted)}')
    failed = False
    for n, (name, why) in enumerate(missing, len(started) + 1):
        failed |= tap_fails(n, name, why)
    for n, (name, process, end, others) in enumerate(started, 1):
        seen = found.get(process.pid, [])
        total, (own, cut, wrong) = samples(seen), judge(seen, end, others)
        bad = total < LEAST or 100 * samples(own) < OWN * total or \
            100 * samples(cut + wrong) > (100 - WHOLE) * total
        failed |= bad
        print(f'{"not ok" if bad else "ok"} {n} - {name}: {total} samples, {len(seen)} stacks, {samples(own)} its own, '
              f'{samples(cut)} cut, {samples(wrong)} with another end')
        early = first.get(process.pid, [])
        print(f'# in the first second {samples(early)}, {samples(judge(early, end, others)[0])} its own')
        for count, text in (cut + wrong)[:8]:
            print(f'# {count} x\n#   ' + text.strip().replace('\n', '\n#   '))
    if done.stderr:
        print('# ' + done.stderr.strip().replace('\n', '\n# '))
    return failed


if __name__ == '__main__':
    if sys.argv[1] == '--build':
        for wanted in GO:
            print(go_program(wanted, sys.argv[2]))
        sys.exit(0)
    if os.geteuid():
        print('1..0 # SKIP needs root')
        sys.exit(0)
    sys.exit(main(*sys.argv[1:]))
