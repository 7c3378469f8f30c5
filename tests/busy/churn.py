#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""churn.py - an hour's profile of the whole machine, while programs come and go: memory, descriptors and
losses, minute by minute.

    churn.py STRATA [--minutes 60] [--memory MB] [--only NAME,NAME]

It runs the real software of programs.py, and also programs that run only once, copies of node each with its own build ID
and a map of its JIT, Pythons, and shells with many short commands. Needs root. The exit status is 1 if there is more
memory (by a quarter) or if there are more descriptors in the last ten minutes than in the third to the twelfth."""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import programs
from absent import Missing
from run import PAUSES, Table

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'unwind' / 'v8'))
import binaries  # noqa: E402

SCRIPT = '''config = {{ max_map_keys = 200000; max_memory_mb = {} }}
profile:hz:99 /pid/ {{ @u[cgroup == {}, elapsed / 1000000000, curtask->group_leader->comm, comm, pid, ustack(1000)] = count(); }}
interval:s:60 {{ print(@u); clear(@u); }}
interval:s:{} {{ exit(); }}'''
NEW = '''#include <stdlib.h>
__attribute__((noinline)) int work_{n}(int n) {{ return n ? work_{n}(n - 1) + rand() : 1; }}
int main(void) {{ int s = 0; for (int i = 0; i < 20000; i++) s += work_{n}(200); return s == 5; }}
'''
SOME_JS = '''function f(n) { return n < 2 ? 1 : f(n - 1) + f(n - 2); }
const end = Date.now() + 1500; let s = 0; while (Date.now() < end) s += f(18); process.exit(s == 5 ? 1 : 0);'''
SOME_PYTHON = 'import json, decimal, email.mime.text; x = [json.loads(json.dumps({"a": list(range(50))})) for i in range(4000)]'
SOME_SHELL = 'for i in $(seq 60); do /bin/true; ls / | sort | head -1; done >/dev/null'


class Churn(threading.Thread):
    """Programs that come and go, within `with`."""

    def __init__(self, directory, node):
        super().__init__(daemon=True)
        self.directory, self.node, self.n, self.ended = directory, node, 0, threading.Event()

    def run(self):
        while not self.ended.is_set():
            self.n += 1
            self.once(self.n)
            self.ended.wait(1)

    def once(self, n):
        def run(*command):
            subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        program = self.directory / f'new{n}'
        subprocess.run(['gcc', '-O1', '-fno-optimize-sibling-calls', '-x', 'c', '-', '-o', program], input=NEW.format(n=n),
                       text=True, check=True)
        run(program)
        program.unlink()
        run('bash', '-c', SOME_SHELL)
        run('python3', '-c', SOME_PYTHON)
        if self.node and n % 3 == 0:
            copy = self.directory / f'node{n}'
            binaries.copy_of(self.node, copy, n)
            p = subprocess.Popen([copy, '--perf-basic-prof', '-e', SOME_JS], cwd=self.directory, stdout=subprocess.DEVNULL)
            p.wait()
            copy.unlink()
            pathlib.Path(f'/tmp/perf-{p.pid}.map').unlink(missing_ok=True)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()


def state(pid):
    """MiB in RAM, descriptors, seconds of CPU."""
    kib = re.search(r'VmRSS:\s+(\d+)', pathlib.Path(f'/proc/{pid}/status').read_text())
    stat = pathlib.Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    cpu = (int(stat[11]) + int(stat[12])) / os.sysconf('SC_CLK_TCK')
    return int(kib.group(1)) / 1024, len(os.listdir(f'/proc/{pid}/fd')), cpu


def complete(line):
    table = Table()
    for e in json.loads(line).get('entries', []):
        table.add(*e['key'], e['value'])
    bare = sum(k for (of, why), k in table.why.items() if of != '(others)' and 'no unwind table' in why)
    n, bad = sum(table.seconds.values()), sum(table.bad.values())
    return f'{n:8} {100 - 100 * bad / max(n, 1):8.2f}% {100 - 100 * (bad - bare) / max(n - bare, 1):8.2f}%'


def some_node():
    try:
        return binaries.node('22')
    except Missing as why:
        print(f'copies of node: left out, {why}')


def minutes(p, churn):
    """Prints a line for each; (MiB, descriptors) of each."""
    seen, before = [], 0.0
    print(f'{"minute":>6} {"new":>5} {"samples":>8} {"complete":>9} {"w/tables":>9} {"MiB":>6} {"fds":>5} {"CPU s":>6}', flush=True)
    for line in p.stdout:
        if '"entries"' not in line or p.poll() is not None:
            continue
        mib, descriptors, cpu = state(p.pid)
        seen.append((mib, descriptors))
        print(f'{len(seen):6} {churn.n:5} {complete(line)} {mib:6.0f} {descriptors:5} {cpu - before:6.1f}', flush=True)
        before = cpu
    return seen


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('strata', type=pathlib.Path)
    p.add_argument('--minutes', type=int, default=60)
    p.add_argument('--memory', type=int, default=200, help='MB, the setting max_memory_mb')
    p.add_argument('--only', type=lambda text: text.split(','))
    o = p.parse_args()
    directory = pathlib.Path(tempfile.mkdtemp(prefix='strata-churn-'))
    directory.chmod(0o755)
    work = programs.Programs(directory / 'programs', o.only, PAUSES[4])
    said = open(directory / 'said', 'w+')
    try:
        for name, why in work.missing:
            print(f'{name}: left out, {why}')
        script = SCRIPT.format(o.memory, work.group, o.minutes * 60 + 5)
        (directory / 'cache').mkdir(mode=0o700)
        with Churn(directory, some_node()) as churn:
            traced = subprocess.Popen([o.strata.resolve(), '-v', '-f', 'json', '-e', script], stdout=subprocess.PIPE, stderr=said,
                                      text=True, env={**os.environ, 'STRATA_CACHE_DIR': str(directory / 'cache')})
            seen = minutes(traced, churn)
            status = traced.wait()
        said.seek(0)
        print('\n'.join(line.strip() for line in said if re.search(r'^(files|processes|stacks|languages)|lost|rror', line)))
    finally:
        work.stop()
        shutil.rmtree(directory, ignore_errors=True)
    print(f'exit status {status}')
    sys.exit(status != 0 or not flat(seen))


def flat(seen):
    """Compares the last ten minutes with the third to the twelfth, when the caches are full; prints both."""
    early, late = ([sum(row[i] for row in rows) / len(rows) for i in (0, 1)] for rows in (seen[2:12] or [(0, 0)], seen[-10:] or [(9e9, 0)]))
    print(f'minutes 3 to 12: {early[0]:.0f} MiB, {early[1]:.0f} descriptors; the last ten: {late[0]:.0f} MiB, {late[1]:.0f}; '
          f'at most {max((row[0] for row in seen), default=0):.0f} MiB')
    return late[0] < 1.25 * early[0] and late[1] < early[1] + 20


if __name__ == '__main__':
    main()
