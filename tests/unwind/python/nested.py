#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nested.py - interpreters within interpreters: a thread has a list of frames in each interpreter
that it runs, and its stack has the frames of all. Root.

    nested.py STRATA PYTHON...    PYTHON: see account.py
    nested.py --program           the traced program, for Python 3.8 on"""
import os
import re
import sys
import tempfile
import threading

SCRIPT = '''uprobe:%s:getppid /pid == %d/ {
    printf("stack\\n%%s--%%s", pystack, ustack); }'''
LINK = '''
try:
    from _interpreters import create, exec as run
except ImportError:
    from _xxsubinterpreters import create, run_string as run
def %s(code):
    run(create(), code)
'''
INNER = 'import os\ndef inner():\n    os.getppid()\ninner()\n'
MIDDLE = LINK % 'middle' + 'middle(%r)\n' % INNER
BOOTSTRAP = ['Thread.run', 'Thread._bootstrap_inner', 'Thread._bootstrap']
IN, MID, OUT = (['inner', '<module>'], ['middle', '<module>'], ['outer', 'program', '<module>'])
WANT = [['program', '<module>'], IN + OUT, IN + MID + OUT, IN + ['outer', *BOOTSTRAP], ['program', '<module>']]


# ---- the traced program ------------------------------------------------------

def program():
    scope = {}
    exec(LINK % 'outer', scope)
    print('ready', flush=True)
    sys.stdin.readline()
    os.getppid()
    scope['outer'](INNER)
    scope['outer'](MIDDLE)
    thread = threading.Thread(target=scope['outer'], args=(INNER,))
    thread.start()
    thread.join()
    os.getppid()


# ---- the reader --------------------------------------------------------------

def names(text):
    """Returns the frames of functions; up to 3.10 without their classes."""
    return [line.split()[0].replace('Thread.', '') for line in text.splitlines() if line.strip()]


def wrong(stack, want):
    """Returns the difference from the wanted stack, or None."""
    pystack, _, ustack = (names(part) for part in stack.partition('--'))
    want = [name.replace('Thread.', '') for name in want]
    if pystack != want:
        return f'pystack: {pystack}, not {want}'
    # Native frames have no file.
    seen = names('\n'.join(line for line in stack.partition('--')[2].splitlines() if len(line.split()) > 1))
    return None if seen == want else f'ustack: {seen}, not {want}'


def compare(strata, name, python):
    import account
    import traced
    with tempfile.NamedTemporaryFile('w', suffix='.py', dir='/tmp') as copy:
        with open(__file__) as own:
            copy.write(own.read())
        copy.flush()
        process = traced.start(python, copy.name, '--program', cwd='/tmp')
        process.stdout.readline()
        _, printed, said = traced.beside(process, strata, SCRIPT % (account.libc_of(process.pid), process.pid))
    stacks = b'\n'.join(printed).decode().split('stack\n')[1:]
    bad = [why for why in map(wrong, stacks, WANT) if why]
    ok = len(stacks) == len(WANT) and not bad
    print(f"{name}: {len(stacks)} stacks of {len(WANT)}, {len(bad)} wrong", *bad, *([] if ok else [said.decode().strip()]),
          sep="\n  ", flush=True)
    return ok


def main(strata, *python):
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import account
    ok = True
    for name, program in account.programs_of(python):
        if isinstance(program, Exception):
            ok &= account.may_be_missing(name, program)
        elif int(re.search(r'3\.(\d+)', name).group(1)) >= 8: # older versions have no module for it
            ok &= compare(strata, name, program)
    return not ok


if __name__ == '__main__':
    if sys.argv[1:] == ['--program']:
        program()
    elif os.geteuid():
        sys.exit(77)
    else:
        sys.exit(main(*sys.argv[1:]))
