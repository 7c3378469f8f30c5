#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""always.py STRATA - runs the transcripts of docs/always.md, in their order, and compares what they print. `cat FILE` first
writes the file that the document shows, if it is not there; ... stands for any lines; numbers of metrics may differ."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests/lib'))
import agents
import tap

STRATA = os.path.realpath(sys.argv[1])
DOCUMENT = ROOT / 'docs/always.md'


def steps():
    """Yields (command, lines that it prints)."""
    for block in re.findall(r'(?:^    .*\n)+', DOCUMENT.read_text(), re.M):
        lines = [line[4:] for line in block.splitlines()]
        if not lines[0].startswith('$ '):
            continue
        for step in '\n'.join(lines)[2:].split('\n$ '):
            command, *output = step.split('\n')
            yield command, output


def pattern(output):
    text = re.escape('\n'.join(output)).replace(r'\.\.\.', r'[^$]*')
    return re.compile(re.sub(r'(\}\\ )\d+', r'\1\\d+', text) + r'\n?\Z')


def main():
    cases = tap.Cases()
    if os.geteuid():
        print('1..0 # skipped: not root')
        return 0
    port, running = str(agents.free_port()), []
    with tempfile.TemporaryDirectory() as home:
        pathlib.Path(home, 'strata').symlink_to(STRATA)
        pathlib.Path(home, 'scripts').mkdir(mode=0o755)
        env = os.environ | {'PATH': f'{home}:{os.environ["PATH"]}'}
        for command, output in steps():
            command, output = command.replace('9436', port), [line.replace('9436', port) for line in output]
            name = command.partition('cat ')[2]
            if command.startswith('cat ') and not pathlib.Path(home, name).exists():
                pathlib.Path(home, name).write_text('\n'.join(output) + '\n')
                pathlib.Path(home, name).chmod(0o644)
            if command.endswith('&'):
                running.append(subprocess.Popen(command[:-1].split(), cwd=home, env=env))
                continue

            def run():
                done = subprocess.run(['sh', '-c', command], cwd=home, env=env, capture_output=True, text=True, timeout=60)
                run.seen = done.stdout
                return pattern(output).match(done.stdout)

            cases.check(agents.until(run, 30), command.replace(port, '9436'), run.seen)
        for process in running:
            process.terminate()
            process.wait(60)
    return cases.done()


sys.exit(main())
