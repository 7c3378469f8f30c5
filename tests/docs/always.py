#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""always.py STRATA DOCUMENT - runs the transcripts of docs/DOCUMENT, in their order, and compares what they print. `cat FILE` first
writes the file that the document shows, if it is not there; ... stands for any lines; numbers of metrics may differ."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests/lib'))
import absent
import agents
import engines
import tap

STRATA = os.path.realpath(sys.argv[1])
DOCUMENT = ROOT / 'docs' / sys.argv[2]
# A host is this machine; one is down.
SSH = '''#!/bin/sh
while [ "$1" = -o ]; do shift 2; done
[ "$1" = down ] && { echo 'ssh: connect to host down port 22: No route to host' >&2; exit 255; }
exec sh -c "$2"
'''


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
        pathlib.Path(home, 'ssh').write_text(SSH)
        if 'duckdb ' in DOCUMENT.read_text():
            try:
                command = ' '.join(engines.program('duckdb', 'duckdb'))
            except absent.Missing as error:
                return absent.all_fail(str(error))
            pathlib.Path(home, 'duckdb').write_text(f'#!/bin/sh\nexec {command} "$@"\n')
            pathlib.Path(home, 'duckdb').chmod(0o755)
        pathlib.Path(home, 'ssh').chmod(0o755)
        env = os.environ | {'PATH': f'{home}:{os.environ["PATH"]}'}
        for command, output in steps():
            command = command.replace('/usr/share/strata/sql', str(ROOT / 'share/sql'))
            command, output = command.replace('9436', port), [line.replace('9436', port) for line in output]
            name = command.partition('cat ')[2] if ' ' not in command[4:] else ''
            if command.startswith('cat ') and not pathlib.Path(home, name).exists():
                pathlib.Path(home, name).write_text('\n'.join(output) + '\n')
                pathlib.Path(home, name).chmod(0o644)
            if command.endswith('&'):
                running.append(subprocess.Popen(command[:-1].split(), cwd=home, env=env))
                continue

            def run():
                done = subprocess.run(['sh', '-c', command], cwd=home, env=env, capture_output=True, text=True, timeout=60)
                run.seen = done.stdout + done.stderr
                return pattern(output).match(done.stdout)

            # The agent's pages change; other commands run once.
            seen = agents.until(run, 30) if 'curl ' in command else run()
            cases.check(seen, command.replace(port, '9436'), run.seen)
        for process in running:
            process.terminate()
            process.wait(60)
    return cases.done()


sys.exit(main())
