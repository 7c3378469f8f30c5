#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py - samples real software at work (programs.py) system-wide at 199 Hz. It prints the number of complete stacks by
program, and the reasons for the others.

    run.py STRATA [--load 4|20] [--seconds 30] [--beside N] [--jobs N] [--only NAME,NAME] [--show REASON] [--examples N]

Other processes of the machine are one row, which is not in the totals. It prints a table for a cold cache (an empty
directory), and a table for a warm cache: the third of three runs. A stack is complete if it has no reason for its end,
and if its outermost frame is where threads begin. --beside: the number of other instances of strata that profile at
the same time. Needs root."""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time

import programs

SCRIPT = '''config = {{ max_map_keys = 200000 }}
profile:hz:199 /pid/ {{
    @u[cgroup == {}, elapsed / 1000000000, curtask->group_leader->comm, comm, pid, ustack({})] = count();
}}
interval:s:{} {{ exit(); }}'''
LIMIT = 1000  # frames
OTHERS = '(others)'
BESIDE = 'profile:hz:99 { @[ustack] = count(); }'
PAUSES = {4: 40.0, 20: 0.0}  # seconds between two pieces of work, on two CPUs
# The functions where threads begin: of programs, of threads of libc, musl and Go.
FIRST = re.compile(r'_start|(__GI_)?_*clone3?|start_thread|_dl_start_user|_dl_start|ret_from_fork|'
                   r'_rt0_\w+|rt0_go|runtime[.·](goexit|mstart|rt0_go|mcall|morestack|systemstack|asmcgocall|'
                   r'sigreturn__sigaction|gogo|goexit0|clone)(\.abi0)?')
ENTRY_SIZE = 64  # bytes of _start, for a _start without a name


def entry(path, known={}):
    """Returns the entry of the program or library at path, or None."""
    if path not in known:
        try:
            with open(path, 'rb') as f:
                head = f.read(64)
            known[path] = struct.unpack_from('<Q', head, 24)[0] if head[:4] == b'\x7fELF' else None
        except OSError:
            known[path] = None
    return known[path]


def code(path, address, size):
    """Returns bytes of the x86-64 program or library, by its segments."""
    with open(path, 'rb') as f:
        head = f.read(64)
        at, n = struct.unpack_from('<Q', head, 32)[0], struct.unpack_from('<H', head, 56)[0]
        f.seek(at)
        for kind, flags, offset, start, _, length, _, _ in struct.iter_unpack('<IIQQQQQQ', f.read(56 * n)):
            if kind == 1 and start <= address < start + length:
                f.seek(offset + address - start)
                return f.read(size)
    return b''


def returns_to_exit(path, address):
    """Returns whether the call before an address is clone's or clone3's in a libc without names. After it, the thread
    exits: mov %eax, %edi; mov $60, %eax; syscall."""
    return code(path, address + 1, 10).removeprefix(b'\x48')[:9] == bytes.fromhex('89c7b83c0000000f05')


def is_first(frame):
    name, path, address = frame.get('function'), frame.get('module', ''), frame.get('address', 0)
    if name:
        return bool(FIRST.fullmatch(name))
    at = entry(path)
    return at is not None and (0 <= address - at < ENTRY_SIZE or returns_to_exit(path, address))


def why_incomplete(stack):
    """Returns the reason, or None for a complete stack."""
    last = stack['frames'][-1] if stack['frames'] else {}
    if len(stack['frames']) == LIMIT:
        return None  # it has the frames of the limit
    if stack.get('end'):
        return f'{stack["end"]} ({pathlib.Path(last["module"]).name})' if 'table' in stack['end'] and 'module' in last else \
            stack['end']
    return None if is_first(last) else \
        f'another end: {last.get("function") or hex(last.get("address", 0))} {pathlib.Path(last.get("module", "")).name}'


class Table:
    def __init__(self):
        self.total, self.why, self.seconds, self.bad = (collections.Counter() for _ in range(4))
        self.first = None
        self.examples = collections.defaultdict(list)

    def add(self, ours, second, program, thread, pid, stack, count):
        if not stack['frames'] and not stack.get('end'):
            return  # it has no memory yet, or no longer
        why = why_incomplete(stack)
        self.first = second if self.first is None else min(second, self.first)
        if not ours: # their files may differ from those with the same names here
            program, why = OTHERS, stack.get('end')
        self.total[program] += count
        if why:
            self.why[program, why] += count
        if not ours:
            return
        self.seconds[second] += count
        if why:
            self.bad[second] += count
            self.examples[why].append((count, program, thread, pid, stack['frames']))

    def whole(self, seconds):
        n = sum(self.seconds[s] for s in seconds)
        return f'{100 - 100 * sum(self.bad[s] for s in seconds) / n:.1f} % of {n}' if n else 'no samples'

    def print(self):
        bad = collections.Counter()
        for (program, _), n in self.why.items():
            bad[program] += n
        print(f'{"program":16} {"samples":>7} {"complete":>9}  why not')
        for program, n in self.total.most_common():
            if n < 20 and not bad[program]:
                continue
            whys = [f'{k} {why}' for (of, why), k in self.why.most_common() if of == program]
            print(f'{program:16} {n:7} {100 - 100 * bad[program] / n:8.1f}%  {"; ".join(whys[:4])}')
        n, incomplete = sum(self.seconds.values()), sum(self.bad.values())
        bare = sum(k for (of, why), k in self.why.items() if of != OTHERS and 'no unwind table' in why)
        print(f'{"all but others":16} {n:7} {100 - 100 * incomplete / max(n, 1):8.2f}%')
        print(f'{"..with tables":16} {n - bare:7} {100 - 100 * (incomplete - bare) / max(n - bare, 1):8.2f}%  '
              'without those that end in code that has no tables')
        last = max(self.seconds, default=0) + 1
        print(f'first 5 s: {self.whole(range(5))}; 5 to 15 s: {self.whole(range(5, 15))}; '
              f'after: {self.whole(range(15, last))}; first sample in second {self.first}')

    def show(self, reason, most):
        for why in sorted(self.examples):
            if not re.search(reason, why):
                continue
            seen = collections.Counter()
            for count, program, thread, pid, frames in sorted(self.examples[why], key=lambda e: -e[0]):
                seen[program] += 1
                if seen[program] > most:
                    continue
                print(f'\n{count} x {program} ({thread}, {pid}): {why}')
                for f in frames[:40]:
                    where = f'+{f["offset"]}' if 'offset' in f else f' {f.get("address", 0):#x}'
                    print(f'    {f.get("function", "?")}{where} {pathlib.Path(f.get("module", "")).name} '
                          f'{f.get("file", "")}:{f.get("line", "")}')


class Load(threading.Thread):
    """The mean number of threads that want a CPU, within `with`."""

    def __init__(self):
        super().__init__(daemon=True)
        self.seen, self.ended = [], threading.Event()

    def run(self):
        while not self.ended.wait(0.2):
            self.seen.append(int(pathlib.Path('/proc/loadavg').read_text().split()[3].split('/')[0]) - 1)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()

    def mean(self):
        return sum(self.seen) / max(len(self.seen), 1)


def sample(strata, seconds, cache, group, out):
    """Returns the CPU seconds of strata, the seconds that passed, and its messages."""
    with open(out, 'w') as f, tempfile.TemporaryFile('w+') as said:
        begun = time.monotonic()
        p = subprocess.Popen([strata, '-v', '-f', 'json', '-e', SCRIPT.format(group, LIMIT, seconds)], stdout=f, stderr=said,
                             env={**os.environ, 'STRATA_CACHE_DIR': cache})
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = 0
        said.seek(0)
        if status:
            print(f'strata ended with {os.waitstatus_to_exitcode(status)}: {said.read()[-20000:]}')
        return usage.ru_utime + usage.ru_stime, time.monotonic() - begun, said.read()


def read(out):
    table = Table()
    with open(out) as f:
        for line in f:
            for e in json.loads(line).get('entries', []):
                table.add(*e['key'], e['value'])
    return table


def run(o, what, cache, directory, show=True):
    command = [o.strata, '-q', '-e', BESIDE]
    others = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env={**os.environ, 'STRATA_CACHE_DIR': cache}) for _ in range(o.beside)]
    with Load() as load:
        cpu, passed, said = sample(o.strata, o.seconds, cache, o.group, directory / 'out')
    for other in others:
        other.kill()
        other.wait()
    if not show:
        return
    print(f'\n== {what}: {load.mean():.1f} threads want a CPU, {o.beside} other instances')
    table = read(directory / 'out')
    table.print()
    print(f'strata: {cpu:.1f} s of CPU in {passed:.1f} s, {100 * cpu / passed / os.cpu_count():.1f} % of all')
    print('\n'.join(line for line in said.splitlines() if re.match('files|processes|stacks|.*lost', line)))
    if o.show:
        table.show(o.show, o.examples)
    sys.stdout.flush()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('strata', type=pathlib.Path)
    p.add_argument('--load', type=int, default=20, choices=PAUSES)
    p.add_argument('--seconds', type=int, default=30)
    p.add_argument('--beside', type=int, default=0)
    p.add_argument('--jobs', type=int, default=2, help='of make')
    p.add_argument('--only', type=lambda text: text.split(','))
    p.add_argument('--cache', default='cold,warm')
    p.add_argument('--show')
    p.add_argument('--examples', type=int, default=3)
    o = p.parse_args()
    o.strata = o.strata.resolve()
    directory = pathlib.Path(tempfile.mkdtemp(prefix='strata-busy-'))
    directory.chmod(0o755)
    work = programs.Programs(directory / 'programs', o.only, PAUSES[o.load], o.jobs)
    o.group = work.group
    cache = directory / 'cache'
    try:
        for name, why in work.missing:
            print(f'{name}: left out, {why}')
        time.sleep(8)
        if 'cold' in o.cache:
            run(o, f'load {o.load}, cold', str(cache), directory)
        if 'warm' in o.cache:
            run(o, '', str(cache), directory, show=False)
            run(o, f'load {o.load}, warm', str(cache), directory)
    finally:
        work.stop()
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == '__main__':
    main()
