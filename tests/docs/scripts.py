#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts.py STRATA - runs the scripts of docs/scripts.md beside their server: each prints something of it."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests' / 'lib'))
from absent import as_root
import tap
import traced
import waits

# What the answer to each question contains.
WANTED = [r'@\[t\d, (parse|query|render|spin)\]: \d+', r'serve', r'@cpu\[[^\]]*query', r'@waits\[\s+[^\]]*query',
          r'@bytes\[t\d\]: \d{6}', r'@\[(clock_)?nanosleep\]: \d+', r'0af7651916cd43dd8448eb211c80319c t\d +/etc/hostname +query',
          r'@us\[t\d\]:', r'render', r'@\[shop, .+, (clock_nanosleep|nanosleep|openat)\]: \d+']


def scripts():
    text = (ROOT / 'docs' / 'scripts.md').read_text()
    for title, rest in re.findall(r'^## \d+\. (.*)\n\n((?:(?:    .*)?\n)+)', text, re.M):
        yield title, '\n'.join(line[4:] for line in rest.splitlines())


def answer(strata, where, script):
    """Lets strata run until the server has served for some time: until it has asked for 2 seconds of CPU time."""
    (where / 'x.bt').write_text(script)
    server = subprocess.Popen([where / 'server'], stdin=subprocess.PIPE, cwd=where)
    tracer = subprocess.Popen([strata, 'x.bt'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=where)
    try:
        traced.attached(tracer)
        begun = waits.spent(server.pid)
        waits.until(lambda: waits.spent(server.pid) - begun > 2, 'the server to serve', 60)
    finally:
        tracer.send_signal(signal.SIGINT)
        out, said = tracer.communicate()
        server.stdin.close()
        server.wait()
    return out, said


def main(strata):
    cases = tap.Cases()
    all_scripts = list(scripts())
    cases.check(len(all_scripts) == len(WANTED), 'the page has ten scripts', len(all_scripts))
    with tempfile.TemporaryDirectory() as name:
        where = pathlib.Path(name)
        subprocess.run(['gcc', '-O1', '-g', '-rdynamic', '-pthread', f'-I{ROOT}', '-D_GNU_SOURCE', '-o', where / 'server',
                        ROOT / 'tests' / 'docs' / 'server.c', ROOT / 'tests' / 'requests' / 'record.c'], check=True)
        for (title, script), wanted in zip(all_scripts, WANTED):
            out, said = answer(os.path.realpath(strata), where, script)
            cases.check(re.search(wanted, out) and 'error' not in said, title, out[-1500:], said)
    return cases.done()


if __name__ == '__main__':
    sys.exit(as_root(lambda: main(sys.argv[1])))
