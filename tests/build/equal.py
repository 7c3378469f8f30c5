#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""equal - a script prints the same as a built program and when strata runs it.

    equal.py STRATA STRATA-RUN CASE...

The cases are those of tests/compat and tests/kernel whose output is the same in each run."""
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'lib'))
import built


def script_and_heads(path):
    script, *sections = path.read_text().split('\n// >>> ')
    heads = {s.partition('\n')[0].partition(' ')[0]: s for s in sections}
    return script + '\n', heads


def value(heads, name):
    return heads.get(name, '').partition('\n')[0].partition(' ')[2]


def compile_program(heads, dir):
    if 'prog' not in heads:
        return
    (dir / 'prog.c').write_text(''.join(line[3:] + '\n' for line in heads['prog'].splitlines()[1:]))
    subprocess.run(['cc', '-O1', '-g', '-static', '-w', '-I', HERE.parent / 'lib', '-o', 'prog', 'prog.c'], cwd=dir,
                   check=True)


def run(words, dir):
    done = subprocess.run(words, cwd=dir, capture_output=True, text=True, errors='replace', timeout=60,
                          stdin=subprocess.DEVNULL)
    return done.stdout, done.returncode, done.stderr


def main():
    strata, program = map(os.path.abspath, sys.argv[1:3])
    paths = [pathlib.Path(p) for p in sys.argv[3:]]
    failed = 0
    print(f'1..{len(paths)}')
    for n, path in enumerate(paths, 1):
        script, heads = script_and_heads(path)
        with tempfile.TemporaryDirectory() as tmp:
            dir = pathlib.Path(tmp)
            (dir / path.name).write_text(script)
            compile_program(heads, dir)
            args, params = value(heads, 'args'), value(heads, 'params')
            options, why = built.build(strata, path.name, dir / 'case.image', args, params, dir)
            if options is None:
                print(f'not ok {n} - {path.name}\n# {why}')
                failed += 1
                continue
            a = run([strata, *shlex.split(args), path.name, *shlex.split(params)], dir)
            (dir / 'strata').symlink_to(program)  # scripts print the name of their process
            b = run(['./strata', 'case.image', *options], dir)
        if a == b:
            print(f'ok {n} - {path.name}')
            continue
        failed += 1
        print(f'not ok {n} - {path.name}')
        for name, one, other in zip(('stdout', 'status', 'stderr'), a, b):
            if one != other:
                print(f'# {name}: {one!r}\n# built:  {other!r}')
    sys.exit(failed > 0)


main()
