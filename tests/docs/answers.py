#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""answers.py STRATA - runs the transcripts of docs/answers.md: the own functions, files and lines are those of the document.
Prints TAP."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / 'tests/lib'), str(ROOT / 'tests/unwind/hotspot')]
import absent
import javas
import waits
from tap import Cases

STRATA = os.path.realpath(sys.argv[1])
BLOCK = re.compile(r'^## (.*?)\n\n(?:    .*\n)+', re.M)


def own(text):
    """Returns the functions of an answer without its first one, which belongs to a library, and without directories."""
    lines = [line.strip() for line in text.splitlines()]
    chain = next((line.partition(': ')[2].split(' <- ')[1:] for line in lines if ' <- ' in line), None)
    if chain is None:  # a stack
        chain = [line for line in lines if re.search(r'\.py:\d+$', line)]
    return [re.sub(r'/\S*/', '', function) for function in chain]


def busy(pid):
    """Whether the process, or its child in a namespace, has begun its work: it has used CPU, or has waited many times."""
    status = pathlib.Path(f'/proc/{pid}/status').read_text()
    cpu = sum(map(int, pathlib.Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[11:13]))
    return cpu > 30 or int(re.search(r'^voluntary_ctxt_switches:\s+(\d+)', status, re.M)[1]) > 30


def child(pid):
    return subprocess.run(['pgrep', '-P', str(pid)], capture_output=True, text=True).stdout.strip()


def provide_java(dir):
    """Writes the programs java and javac, which run the tests' JDK."""
    java = javas.get('17') / 'java'
    compiler = '--limit-modules jdk.compiler,jdk.zipfs -m jdk.compiler/com.sun.tools.javac.Main'
    for name, words in (('java', ''), ('javac', compiler)):
        path = pathlib.Path(dir, name)
        path.write_text(f'#!/bin/sh\nexec {java} {words} "$@"\n')
        path.chmod(0o755)


def transcript(cases, title, lines, dir):
    env = {**os.environ, 'PATH': f'{dir}:/usr/bin:/bin:/usr/sbin:/sbin'}
    if 'java' in lines[0]:
        try:
            provide_java(dir)
        except absent.Missing as e:
            cases.count += 1
            cases.failed += absent.tap_fails(cases.count, title, e)
            return
    program = lines[0].removeprefix('$ ').removesuffix(' &')
    *build, program = program.split(' && ')
    for command in build:
        subprocess.run(shlex.split(command), cwd=dir, check=True, env=env)
    words = shlex.split(program)
    tool = shlex.split(lines[1].removeprefix('$ sudo strata '))
    if not shutil.which(words[0], path=f'/usr/bin:{dir}') and not words[0].startswith('./'):
        cases.skip(title, f'needs {words[0]}')
        return
    with subprocess.Popen(words, cwd=dir, env=env) as process:
        pid = process.pid
        try:
            if words[0] == 'unshare':
                pid = waits.until(lambda: child(process.pid), 'the process in its namespace')
            waits.until(lambda: busy(pid), 'the program to work')
            done = subprocess.run([STRATA, *(str(pid) if word == '1234' else word for word in tool)], capture_output=True,
                                  text=True, timeout=60)
        finally:
            if pid != process.pid:
                os.kill(int(pid), 9)
            process.kill()
    first = '\n'.join(done.stdout.splitlines()[:9])
    want, have = own('\n'.join(lines[2:])), own(first)
    cases.check(want and want == have, title, f'the document: {want}', f'strata: {have}', first, done.stderr)


def main():
    cases, text = Cases(), (ROOT / 'docs/answers.md').read_text()
    with tempfile.TemporaryDirectory() as dir:
        shutil.copytree(ROOT / 'examples/answers', dir, dirs_exist_ok=True)
        os.chmod(dir, 0o755)
        for block in BLOCK.finditer(text):
            lines = [line[4:] for line in block[0].splitlines() if line.startswith('    ')]
            transcript(cases, block[1], lines, dir)
    cases.check(cases.count >= 7, 'all transcripts were found', cases.count)
    return cases.done()


if os.geteuid():
    print('1..0 # SKIP needs root')
    sys.exit()
sys.exit(main())
