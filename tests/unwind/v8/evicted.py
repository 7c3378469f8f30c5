#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""evicted.py - copies of node, each a program of its own, run one after the other while strata may use little memory.
strata frees the data of those that no process runs, and still names the functions of all; a program that comes again is
read again.

    evicted.py STRATA [COUNT]      root"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import binaries
from absent import Missing, all_fail, as_root
from tap import Cases
from traced import attached

SCRIPT = 'config = { max_memory_mb = 40 } profile:hz:199 /len(jsstack)/ { @[jsstack(func)] = count(); }'
# Two seconds, because strata makes the tables of a new program at the first time.
SOURCE = '''function own_%d(n) { return n < 2 ? n : own_%d(n - 1) + own_%d(n - 2); }
for (const end = Date.now() + 2000; Date.now() < end;) own_%d(15);'''


def main(strata, count='6'):
    try:
        node = binaries.node('22')
    except Missing as why:
        return all_fail(why)
    cases, count = Cases(), int(count)
    with tempfile.TemporaryDirectory() as directory:
        tracer = subprocess.Popen([strata, '-v', '-e', SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, 'STRATA_CACHE_DIR': f'{directory}/cache'})
        said = attached(tracer)
        first = pathlib.Path(directory) / 'node-0'
        for n in [*range(count), 0]:
            program, again = pathlib.Path(directory) / f'node-{n}', n == 0 and first.exists()
            if not again:
                binaries.copy_of(node, program, n)
            name = count if again else n
            subprocess.run([program, '-e', SOURCE.replace('%d', str(name))], check=True)
            if program != first:
                program.unlink()
        tracer.terminate()
        out, err = tracer.communicate()
    err = f'{said or ""}{err}'
    evicted = re.search(r'(\d+) evicted', err)
    named = [n for n in range(count + 1) if re.search(rf'^ +own_{n} ', out, re.M)]
    print(f'# {evicted.group(1) if evicted else "no"} files evicted, functions of {len(named)} of {count + 1}')
    cases.check(evicted and int(evicted.group(1)) >= count // 2, 'data of unused programs is freed', err[-2000:])
    cases.check(len(named) == count + 1, f'..and all functions have names: {len(named)} of {count + 1}', named, out[-3000:])
    return cases.done()


if __name__ == '__main__':
    sys.exit(as_root(lambda: main(*sys.argv[1:])))
