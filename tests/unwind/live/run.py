#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py - samples @[ustack] of all processes while programs in four languages run. Their stacks are
whole, and end in the frames that are always at the outer end of that program's stacks.

    run.py STRATA LIVE       root; LIVE: live.cc
    run.py --build ARCH      only builds the programs in Go, for a machine without a toolchain"""
import os
import pathlib
import platform
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'go'))
import toolchains  # noqa: E402
import waits  # noqa: E402
from absent import Missing, tap_fails  # noqa: E402

ARCH = {'x86_64': 'amd64', 'aarch64': 'arm64'}[platform.machine()]
GO = ('1.19', '1.27')
# strata samples until it has enough stacks. On a busy machine it may know a program late; the samples
# from before that must be few among all.
SECONDS = (6, 20, 60)
SCRIPT = 'profile:hz:99 {{ @[pid, ustack] = count(); }} interval:s:{} {{ exit(); }}'
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
LEAST, WHOLE, OWN = 40, 97.0, 50.0 # samples; per cent


def go_program(version, arch):
    try:
        return toolchains.program(f'live-{version}', version, [HERE / 'go' / 'main.go'], arch)
    except Missing as why:
        return why


def programs(live):
    """Yields for each program: the name, the command, the outer frames of its own stacks (innermost first),
    and the outer frames of stacks of the language's runtime."""
    # Between main and _start, libc has one or two frames, depending on its version.
    start = [r'([^\n]+\n){1,2}', r'_start\+\d+\n']
    yield 'Python', ['python3', '-S', '-E', '-c', PYTHON], [r'Work\.outer <string>:[78]\n', r'<module> <string>:9\n', '(?s:.*)', *start], None
    yield 'C++', [live], [r'outer\+\d+\n', r'main\+\d+\n', *start], None
    for version in GO:
        yield f'Go {version}', [go_program(version, ARCH)], \
            [r'main\.outer \S+:\d+\n', r'main\.main \S+:\d+\n', r'runtime\.main \S+:\d+\n', r'runtime\.goexit \S+:\d+\n'], \
            r'runtime\.(goexit|mstart|mcall|morestack|rt0_go)(\.abi0)? \S+:\d+\n'


def stacks(text):
    """{pid: [(count, lines)]} of @[pid, ustack]."""
    found = {}
    for pid, body, count in re.findall(r'^@\[(\d+), ?\n(.*?)^\]: (\d+)', text, re.S | re.M):
        found.setdefault(int(pid), []).append((int(count), re.sub('^ +', '', body, flags=re.M)))
    return found


def judge(seen, end, others):
    """The stacks that are the program's own, those marked as cut, and those that end in other frames."""
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


def warm_up(strata, started):
    """Fills the cache with the tables of their files, and of strata's own: that takes long while all
    of them run."""
    itself = subprocess.Popen([strata, '-q', '-e', 'interval:s:1000 { exit(); }'], stdout=subprocess.DEVNULL)
    for process in (itself, *(s[1] for s in started)):
        subprocess.run([strata, '--unwind', str(process.pid)], stdout=subprocess.DEVNULL, check=True, timeout=120)
    itself.kill()
    itself.wait()


def look(strata, started, seconds):
    """Returns whether a case fails, and the lines of TAP."""
    done = subprocess.run([strata, '-v', '-e', SCRIPT.format(seconds)], capture_output=True, text=True, timeout=200)
    found = stacks(done.stdout)
    failed, report = False, []
    for n, (name, process, end, others) in enumerate(started, 1):
        seen = found.get(process.pid, [])
        total, (own, cut, wrong) = samples(seen), judge(seen, end, others)
        bad = total < LEAST or 100 * samples(own) < OWN * total or \
            100 * samples(cut + wrong) > (100 - WHOLE) * total
        failed |= bad
        report.append(f'{"not ok" if bad else "ok"} {n} - {name}: {total} samples, {len(seen)} stacks, '
                    f'{samples(own)} its own, {samples(cut)} cut, {samples(wrong)} with another end')
        report += [f'# {count} x\n#   ' + text.strip().replace('\n', '\n#   ') for count, text in (cut + wrong)[:8]]
    if failed:
        report.append('# ' + done.stderr.strip().replace('\n', '\n# '))
    return failed, report


def main(strata, live):
    wanted = list(programs(live))
    missing = [(name, command[0]) for name, command, *_ in wanted if isinstance(command[0], Missing)]
    started = [(name, subprocess.Popen(command, stdout=subprocess.DEVNULL), *ends)
               for name, command, *ends in wanted if not isinstance(command[0], Missing)]
    try:
        for _, process, *_ in started:
            waits.until(lambda pid=process.pid: waits.spent(pid) > 1, 'the programs to be at work')
        warm_up(strata, started)
        for seconds in SECONDS:
            failed, report = look(strata, started, seconds)
            if not failed:
                break
    finally:
        for _, process, *_ in started:
            process.kill()
            process.wait()
    print(f'1..{len(wanted)}', *report, sep='\n')
    for n, (name, why) in enumerate(missing, len(started) + 1):
        failed |= tap_fails(n, name, why)
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
