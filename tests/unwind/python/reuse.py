#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""reuse.py - frees code objects and makes others at the same addresses: strata never prints the
old name. Root.

    reuse.py STRATA PYTHON...     PYTHON: see account.py
    reuse.py --program            the traced program, for Python 3.6 on

The program makes, calls and frees functions that differ only in name, line or file, until
thousands have had an address that another had before. Each prints its name before getppid()."""
import os
import sys
import tempfile

ROUNDS = 3000
REUSED_MIN = 300
SCRIPT = '''uprobe:%s:getppid /pid == %d/ { printf("stack\\n%%s\\n", pystack(2)); }'''


# ---- the traced program ------------------------------------------------------

def make(i):
    """Makes names of one length, so that the objects have one size."""
    name, file, lines = 'name%04d' % i, '/tmp/file%04d.py' % (i % 7), '\n' * (i % 5)
    scope = {}
    exec(compile(lines + 'def %s(call): call()' % name, file, 'exec'), scope)
    return scope.pop(name), '%s %s:%d' % (name, file, i % 5 + 1)


def program():
    print('ready', flush=True)
    sys.stdin.readline()
    seen, reused = set(), 0
    for i in range(ROUNDS):
        function, shown = make(i)
        address = id(function.__code__)
        reused += address in seen
        seen.add(address)
        print(shown)
        function(os.getppid)
    print('reused', reused)


# ---- the reader --------------------------------------------------------------

def compare(strata, name, python):
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import account
    import traced
    with tempfile.NamedTemporaryFile('w', suffix='.py', dir='/tmp') as copy:
        with open(__file__) as own:
            copy.write(own.read())
        copy.flush()
        process = traced.start(python, copy.name, '--program', cwd='/tmp')
        process.stdout.readline()
        lines, printed, _ = traced.beside(process, strata,
                                          SCRIPT % (account.libc_of(process.pid), process.pid))
    stacks = b'\n'.join(printed).decode().split('stack\n')[1:]
    shown = [stack.strip().split('\n')[0] for stack in stacks]
    *own_names, reused = [line.decode().strip() for line in lines]
    wrong = [(a, b) for a, b in zip(shown, own_names) if a != b]
    print(f'{name}: {len(shown)} stacks of {len(own_names)} functions, {reused}, {len(wrong)} with '
          f'another name, file or line', *wrong[:3], flush=True)
    return len(shown) == len(own_names) == ROUNDS and not wrong and int(reused.split()[1]) >= REUSED_MIN


def main(strata, *names):
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import account
    ok = True
    for name, python in account.programs_of(names):
        ok &= account.may_be_missing(name, python) if isinstance(python, Exception) else compare(strata, name, python)
    return not ok


if __name__ == '__main__':
    if sys.argv[1] == '--program':
        program()
    elif os.geteuid():
        print('needs root')
        sys.exit(77)  # skipped
    else:
        sys.exit(main(*sys.argv[1:]))
