#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""eustack.py - compares the walk's addresses with those of elfutils' eu-stack, frame by frame, for stopped threads
of real software at work (programs.py).

    eustack.py THREADS [--threads 400] [--only NAME,NAME] [--all]

THREADS: build/release/tests/unwind/native/threads. It stops processes one after another in the middle of their
work. If eu-stack gives up with an error, the frames up to there are compared. Needs root."""
import argparse
import collections
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import programs

NO_CODE = 'what eu-stack has next is the address of no code'


def maps(pid):
    found = []
    for line in pathlib.Path(f'/proc/{pid}/maps').read_text().splitlines():
        words = line.split(None, 5)
        start, end = (int(n, 16) for n in words[0].split('-'))
        found.append((start, end, words[5] if len(words) > 5 else '[anon]', words[1]))
    return found


def is_code(where, address):
    return any(start <= address < end and 'x' in rights for start, end, _, rights in where)


def same_code(pid, mine, other):
    """Returns whether 16 bytes of code are the same at both addresses: theirs is a return address, or the first frame's."""
    with open(f'/proc/{pid}/mem', 'rb', 0) as memory:
        def at(address):
            memory.seek(address)
            return memory.read(16)
        try:
            return mine & 0xfff in (other & 0xfff, (other - 1) & 0xfff) and \
                at(mine) == at(other - ((other - mine) & 1))
        except OSError:
            return False


def theirs(pid):
    """Returns {thread: (addresses, the last message of eu-stack)}."""
    done = subprocess.run(['eu-stack', '-q', '-n', '0', '-p', str(pid)], capture_output=True, text=True)
    found, why = {}, {}
    for tid, error in re.findall(r'tid (\d+)(?: at 0x[0-9a-f]+ in \S+)?: (.+)', done.stderr):
        why[int(tid)] = error
    for part in done.stdout.split('TID ')[1:]:
        tid = int(part.split(':')[0])
        found[tid] = ([int(n, 16) for n in re.findall(r'^#\d+ +0x([0-9a-f]+)', part, re.M)], why.get(tid))
    return found


def ours(threads, pid):
    done = subprocess.run([threads, str(pid)], capture_output=True, text=True)
    found = {}
    for tid, end, frames in re.findall(r'^(\d+) \[(.*?)\](.*)$', done.stdout, re.M):
        found[int(tid)] = ([None if n == '-' else int(n, 16) for n in frames.split()], end)
    return found


def wait_until_stopped(pid):
    for _ in range(200):
        states = set()
        for path in pathlib.Path(f'/proc/{pid}/task').glob('*/stat'):
            states.add(path.read_text().rpartition(')')[2].split()[0])
        if states <= {'T', 't'}:
            return True
        time.sleep(0.01)
    return False


class Report:
    def __init__(self, show_all):
        self.stacks = self.equal = self.frames = self.equal_frames = 0
        self.show_all, self.by_program, self.kinds = show_all, collections.Counter(), collections.Counter()

    def differ(self, kind, program, pid, tid, at, have, want, where):
        self.kinds[kind] += 1
        if not self.show_all and self.kinds[kind] > 3:
            return

        def text(address):
            if address is None:
                return '-'
            name = next((f'{pathlib.Path(path).name}+{address - start:#x}' for start, end, path, _ in where
                         if start <= address < end), '?')
            return f'{address:#x} {name}'
        print(f'{program} {pid} {tid}, frame {at}: {kind}')
        for i in range(max(0, at - 2), at + 4):
            print(f'    {i}: {text(have[i]) if i < len(have) else "":50} | {text(want[i]) if i < len(want) else ""}')
        sys.stdout.flush()

    def add(self, program, pid, tid, mine, other, where):
        (have, end), (want, error) = mine, other
        self.stacks += 1
        self.by_program[program] += 1
        kind = None
        for i in range(min(len(have), len(want))):
            if have[i] is None:  # a function of an interpreted language
                continue
            if i and not is_code(where, want[i]):
                kind = NO_CODE
                break
            self.frames += 1
            if have[i] in (want[i], want[i] - 1):
                self.equal_frames += 1
            elif same_code(pid, have[i], want[i]):
                kind = 'the same code: a builtin of V8, which copies them, at its place in the file'
                self.equal_frames += 1
                break
            else:
                kind = 'another address'
                break
        else:
            i = min(len(have), len(want))
            if i < len(want):
                kind = f'eu-stack goes on; the walk ended: {end or "complete"}'
                if not is_code(where, want[i]):
                    kind = NO_CODE
                elif not end:
                    self.frames += len(want) - i
            elif i < len(have):
                kind = f'the walk goes on; eu-stack: {error or "complete"}'
        self.equal += kind is None
        if kind:
            self.differ(kind, program, pid, tid, i, have, want, where)


def look(threads, pid, report):
    try:
        program = pathlib.Path(f'/proc/{pid}/comm').read_text().strip()
        os.kill(pid, signal.SIGSTOP)
    except (OSError, ProcessLookupError):
        return
    try:
        if wait_until_stopped(pid):
            where, other = maps(pid), theirs(pid)
            mine = ours(threads, pid)
            for tid in sorted(set(mine) & set(other)):
                report.add(program, pid, tid, mine[tid], other[tid], where)
    except OSError:
        pass  # it has ended
    finally:
        try:
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            pass


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('threads', type=pathlib.Path)
    p.add_argument('--threads', type=int, default=400, dest='most')
    p.add_argument('--only', type=lambda text: text.split(','))
    p.add_argument('--all', action='store_true', help='each difference, not three of a kind')
    o = p.parse_args()
    if not shutil.which('eu-stack'):
        sys.exit('eu-stack is not installed: apt-get install elfutils')
    o.threads = o.threads.resolve()
    directory = pathlib.Path(tempfile.mkdtemp(prefix='strata-eustack-'))
    directory.chmod(0o755)
    work = programs.Programs(directory / 'programs', o.only)
    report = Report(o.all)
    try:
        for name, why in work.missing:
            print(f'{name}: left out, {why}')
        time.sleep(8)
        while report.stacks < o.most:
            pids = work.pids()
            random.shuffle(pids)
            for pid in pids:
                if report.stacks < o.most:
                    look(o.threads, pid, report)
    finally:
        work.stop()
        shutil.rmtree(directory, ignore_errors=True)
    print(f'\n{report.stacks} threads, {report.equal} equal to the last frame; {report.frames} addresses compared, '
          f'{report.equal_frames} equal: {100 * report.equal_frames / max(1, report.frames):.3f} %')
    print('threads of:', ', '.join(f'{name} {n}' for name, n in report.by_program.most_common()))
    for kind, n in report.kinds.most_common():
        print(f'{n:5} {kind}')


if __name__ == '__main__':
    main()
