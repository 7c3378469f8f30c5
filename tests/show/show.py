#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""show.py STRATA - how strata prints a map of stacks: which stacks are merged, the input of a flame
graph, and the summary on a terminal."""
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'lib'))
from tap import Cases

STRATA, CALLS = sys.argv[1], HERE / 'calls.py'
PYTHON = '/usr/bin/python3'
PROBE = 'uprobe:libc:getppid'


def options(statements, *more):
    return [STRATA, '-q', *more, '-e', f'{PROBE} {{ {statements} }}', '-c', f'{PYTHON} -S -E {CALLS}']


def text(statements, *more):
    """Returns the output to a pipe, with the file's name shortened."""
    done = subprocess.run(options(statements, *more), capture_output=True, text=True, timeout=60)
    return (done.stdout + done.stderr).replace(str(CALLS), 'calls.py')


def on_terminal(statements, *more):
    """Returns the output to a terminal."""
    pid, fd = pty.fork()
    if not pid:
        os.execv(STRATA, options(statements, *more))
    seen = b''
    try:
        while data := os.read(fd, 65536):
            seen += data
    except OSError:
        pass
    os.waitpid(pid, 0)
    os.close(fd)
    return seen.decode().replace('\r\n', '\n').replace(str(CALLS), 'calls.py')


def stack(lines, count, name=''):
    return f'@{name}[\n' + ''.join(f'        {line}\n' for line in lines) + f']: {count}\n'


cases = Cases()
if os.geteuid() or not os.path.exists(PYTHON):
    print('1..0 # skipped: not root, or no', PYTHON)
    sys.exit(0)

seen = text('@[pystack] = count();')
want = '\n\n' + stack(['call calls.py:8-9', '<module> calls.py:17'], 3) + \
    stack(['call calls.py:8-9', 'other calls.py:13', '<module> calls.py:18'], 3)
cases.check(sorted(seen.split('@')) == sorted(want.split('@')), 'stacks of the same functions are one', seen)

seen = text('@[pystack(line)] = sum(10);')
counts = sorted((int(n), line) for line, n in re.findall(r'call calls.py:(\S+)\n(?:.*\n)*?\]: (\d+)', seen))
cases.check(counts == [(10, '9'), (10, '9'), (20, '8'), (20, '8')], '..of the same lines', seen)

seen = text('@[ustack(addr, 2), pystack(addr, 1)] = count();')
cases.check(re.search(r'^        getppid\+\d+\n', seen, re.M) and 'call calls.py:8\n' in seen and '8-9' not in seen,
            '..of the same text', seen)

seen = text('@[pystack] = arg0;')
cases.check(seen.count('\n]: ') == 6, 'plain values are not added up', seen)

seen = text('@[pystack(folded)] = count();')
want = '<module> calls.py_[j];call calls.py_[j] 3\n<module> calls.py_[j];other calls.py_[j];call calls.py_[j] 3\n'
cases.check(sorted(seen.splitlines()) == sorted(want.splitlines()), 'folded: a line a stack, and nothing else', seen)

seen = text('@[pystack(folded), "a;b"] = sum(2);')
cases.check(sorted(seen.splitlines()) == sorted('a:b;' + line.replace(' 3', ' 6') for line in want.splitlines()),
            'folded: the rest of the key is the outermost frame', seen)

seen = text('@[kstack(folded), comm, ustack(folded, 1)] = count();').splitlines()
cases.check(len(seen) == 1 and re.fullmatch(r'python3(\.\d+)?;getppid(;[^;]+_\[k\])* 6', seen[0]),
            'folded: the kernel is called from the user', *seen)

seen = text('@[pystack(folded)] = hist(1);')
cases.check(seen.startswith('\n\n@[') and '@[<module> calls.py_[j];call calls.py_[j]]:\n[1]' in seen, 'a histogram is no flame graph', seen)

seen = text('@[pystack] = sum(arg0); @ = count();')
cases.check(' %' not in seen and ' in ' not in seen, 'a pipe gets only the output of the script', seen)

seen = on_terminal('@[pystack(line)] = count();')
cases.check(re.search(r'^\]: 2  33\.3 %$', seen, re.M) and re.search(r'^\]: 1  16\.7 %$', seen, re.M) and
            seen.endswith('\n@: 6 in 4 stacks\n'), 'a terminal gets shares and the total', seen)

seen = on_terminal('@[pystack(line)] = count();', '-n', '1')
cases.check(seen.count('@[') == 1 and seen.endswith('\n@: 6 in 4 stacks; the 3 smallest (66.7 %) are not shown\n'),
            '--top', seen)

seen = on_terminal('@[tid, pystack(line), elapsed] = count();')
cases.check('    100.0 %  <module> calls.py\n' not in seen and re.search(
    r'^     self  the innermost function of a stack\n  100\.0 %  call calls\.py\n\n'
    r'    total  a function with what it calls\n  100\.0 %  <module> calls\.py\n   50\.0 %  other calls\.py\n\Z', seen, re.M),
            'the hottest functions', seen)



def folded(statements, loud=False):
    """-f folded: (lines of the flame graph's input, text on stderr)"""
    line = [arg for arg in options(statements, '-f', 'folded') if not loud or arg != '-q']
    done = subprocess.run(line, capture_output=True, text=True, timeout=60)
    return sorted(done.stdout.replace(str(CALLS), 'calls.py').splitlines()), done.stderr


LINES = sorted(want.splitlines())
seen = folded('@[pystack] = count(); @n = count(); printf("a;b 1\\n"); print((7, 8));')
cases.check(seen[0] == LINES, '-f folded: stacks of any mode, and nothing else', *seen)
cases.check('a;b 1\n(7, 8)\n' in seen[1] and seen[1].endswith('@n: 6\n'), '..the rest goes to stderr', seen[1])
seen, _ = folded('@[comm, pystack(line), 5] = count();')
cases.check(len(seen) == 4 and all(re.fullmatch(r'python3(\.\d+)?;5;<module> calls.py_\[j\];.* [12]', line) for line in seen),
            '..the rest of the key stands first', *seen)
seen, _ = folded('@[kstack, ustack(perf, 1)] = count();')
cases.check(len(seen) == 1 and re.fullmatch(r'getppid(;[^;]+_\[k\])* 6', seen[0]), '..the kernel is called from the user', *seen)
for value, times in ('avg(4)', 4), ('stats(4)', 4), ('hist(4)', 1), ('lhist(4, 0, 9, 1)', 1), ('sum(4)', 4):
    seen, _ = folded(f'@[pystack] = {value};')
    cases.check(seen == [line.replace(' 3', f' {3 * times}') for line in LINES], f'..{value}', *seen)
seen, said = folded('@[pystack] = sum(-1);', loud=True)
cases.check(not seen and 'warning: @: 2 stacks are left out: a value below 0 has no width\n' in said, '..values below 0', seen, said)
seen, _ = folded('@[jsstack] = max(3);')
cases.check(seen == ['[no JavaScript frames] 3'], '..why a stack is not whole', *seen)
with tempfile.TemporaryDirectory() as home:
    subprocess.run(options('@[pystack] = count(); print(1)', '-f', 'folded', '-o', f'{home}/out'), stderr=subprocess.DEVNULL,
                   timeout=60)
    seen = sorted(pathlib.Path(home, 'out').read_text().replace(str(CALLS), 'calls.py').splitlines())
cases.check(seen == LINES, '..to a file', *seen)

seen = text('@[comm] = count(); @[str("b")] = count();', '--top', '1')
cases.check(seen.count('@[') == 1, '--top of other maps', seen)
sys.exit(cases.done())
