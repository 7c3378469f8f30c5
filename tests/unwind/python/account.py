#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""account.py - compares Python's own account with pystack, frame by frame (name, file, line), and the
depth with len(pystack), for thousands of stacks of random shape and depth.

    account.py STRATA [CALLS [PYTHON...]]   root; the reader. A PYTHON without a / is a
                                            name of tests/pythons/get, or a group of
                                            them: packaged, all
    account.py --program CALLS              the traced program, for Python 3.6 on

The program prints a checksum of its frames before each call of getppid(), which holds
the GIL, or fchmod(), which has released it; the reader computes the same checksum of the
stack that strata prints at the uprobe there. Two names and files are not ASCII and have 2
and 4 bytes per character. The stacks are made in threads and, where this Python supports it,
in a sub-interpreter."""
import os
import random
import re
import sys
import tempfile
import threading
import time
from binascii import crc32

DEEPEST = 5000
HERE = os.path.dirname(os.path.abspath(__file__))


# ---- the traced program ------------------------------------------------------

def lines(frame):
    """The frames in strata's form, from that frame outwards."""
    while frame is not None:
        code = frame.f_code
        yield f'{getattr(code, "co_qualname", code.co_name)} {code.co_filename}:{frame.f_lineno}\n'
        frame = frame.f_back
    # Frames of the interpreter that started this sub-interpreter, which cannot see them itself.
    yield from globals().get('AROUND', [])


def account(frame):
    """(depth, checksum) from the caller of probe() outwards."""
    depth, crc = 0, 0
    for line in lines(frame):
        crc = crc32(line.encode(), crc)
        depth += 1
    return depth, crc


one_at_a_time = threading.Lock()
scratch = tempfile.TemporaryFile()


def probe(released):
    state.printed += 1
    with one_at_a_time:  # so that both accounts are in the same order
        depth, crc = account(sys._getframe(1))
        sys.stdout.write(f'{depth + 1} {crc} {released:d}\n')
        if released:
            os.fchmod(scratch.fileno(), 0o600)
        else:
            os.getppid()
    time.sleep(depth * 1e-6)  # so that the ring buffer does not overflow


def plain(n):
    return down(n - 1)


def generator(n):
    def inner():
        yield down(n - 1)
    for value in inner():
        return value


def comprehension(n):
    return [down(n - 1) for _ in (1,)]


def decorate(function):
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)
    return wrapper


@decorate
def decorated(n):
    return down(n - 1)


class Shape:
    def method(self, n):
        return down(n - 1)

    def __call__(self, n):
        return self.method(n)

    @property
    def value(self):
        return down(self.n - 1)

    def __len__(self):
        down(self.n - 1)
        return 1


def from_class(n):
    return Shape()(n)


def from_property(n):
    shape = Shape()
    shape.n = n
    return shape.value


def from_len(n):
    shape = Shape()
    shape.n = n
    return len(shape)


def from_lambda(n):
    return (lambda m: down(m - 1))(n)


def from_exec(n):
    scope = {'down': down, 'n': n}
    exec('def made():\n\n    return down(n - 1)\nmade()', scope)


def from_sort(n):
    return sorted([0], key=lambda _: down(n - 1))


def from_map(n):
    return list(map(lambda _: down(n - 1), (1,)))


class Made:
    def __init__(self, n):
        self.value = down(n - 1)


def from_init(n):
    return Made(n).value


def from_yield(n):
    def outer():
        yield from inner()

    def inner():
        yield down(n - 1)
    return list(outer())


def from_coroutine(n):
    async def inner():
        return down(n - 1)

    async def outer():
        return await inner()
    try:
        outer().send(None)
    except StopIteration as e:
        return e.value


def from_except(n):
    try:
        raise ValueError
    except ValueError:
        return down(n - 1)


def from_sub(n):
    return re.sub('a', lambda _: str(down(n - 1)), 'a')


def from_del(n):
    class Last:
        def __del__(self):
            down(n - 1)
    Last()


def from_context(n):
    class Context:
        def __enter__(self):
            return down(n - 1)

        def __exit__(self, *_):
            pass
    with Context() as value:
        return value


def from_callback(n):
    """Calls through C code that does not belong to Python: libffi."""
    return ctypes.CFUNCTYPE(ctypes.c_int)(lambda: (down(n - 1), 0)[1])()


def compiled(name, file):
    """A function of this name, in a file of that name; both have characters of one width."""
    scope = {}
    exec(compile('\n\ndef %s(n):\n\n    return down(n - 1)' % name, file, 'exec'),
         globals(), scope)
    return scope[name]


CHEAP = (plain, decorated, from_lambda, from_class, from_init)
COSTLY = [generator, comprehension, from_property, from_len, from_exec, from_sort, from_map,
          from_yield, from_coroutine, from_except, from_sub, from_del, from_context,
          compiled('straße', '/tmp/größe.py'), compiled('имя', '/tmp/файл €.py'),
          compiled('\U00020000名', '/tmp/\U0001f40d.py')]
try:
    import ctypes
    # Up to 3.11 ctypes runs every callback in the main interpreter.
    if 'AROUND' not in globals():
        COSTLY.append(from_callback)
except ImportError:  # needs _ctypes, which a build may not have
    pass
state = threading.local()


def down(n):
    if n <= 0:
        return probe(state.random.random() < 0.5)
    # Shapes that call through C use the C stack, so most levels of a deep stack are plain calls.
    costly = state.random.random() < (0.5 if state.depth < 200 else 0.02)
    return state.random.choice(COSTLY if costly else CHEAP)(n)


def work(calls, seed):
    state.random = random.Random(seed)
    state.printed = tries = 0
    while state.printed < calls and tries < 10 * calls:
        tries += 1
        state.depth = int(DEEPEST ** state.random.random())
        try:
            # Each level is two frames or more; the last few hundred are headroom.
            down(state.depth // 3)
        except RecursionError:  # C's own limit, low in a debug build
            pass


def sub_interpreters():
    for name in ('_interpreters', '_xxsubinterpreters'):
        try:
            return __import__(name)
        except ImportError:
            pass
    return None


INSIDE = '''
import os, runpy, sys
sys.setrecursionlimit(%d)
sys.stdout = os.fdopen(1, 'w', closefd=False)
runpy.run_path(%r, {'AROUND': %%r})['work'](%%d, %%d)
sys.stdout.flush()
'''


def work_inside(calls, seed):
    """Like work(), in a sub-interpreter of this thread."""
    module = sub_interpreters()
    if not module or not calls:
        return False
    inside, how = module.create(), INSIDE % (10 * DEEPEST, __file__)
    # The code is on one line, which is that of the call.
    around = list(lines(sys._getframe())); module.run_string(inside, how % (around, calls, seed))
    return True


def program(calls):
    sys.setrecursionlimit(10 * DEEPEST)
    sys.unraisablehook = lambda _: None  # __del__ cannot raise the error of C's recursion limit
    threading.stack_size(512 << 20)
    share = calls // 5
    threads = [threading.Thread(target=work, args=(share, seed)) for seed in range(4)]
    print('%d.%d.%d' % sys.version_info[:3], flush=True)
    sys.stdin.readline()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.stdout.flush()
    last = threading.Thread(target=lambda: work_inside(share, 4) or work(share, 4))
    last.start()
    last.join()


# ---- the reader --------------------------------------------------------------

SCRIPT = '''uprobe:%s:getppid,uprobe:%s:fchmod /pid == %d/ {
    printf("stack %%d%%s\\n", len(pystack), pystack(16384));
}'''


def stacks(out):
    """Yields (len, depth, checksum without the innermost frame, marks) of each stack."""
    length, depth, crc, marks = None, 0, 0, []
    for line in out:
        text = line.strip()
        if text.startswith(b'stack '):
            length, depth, crc, marks = int(text[6:]), 0, 0, []
        elif text.startswith(b'['):
            marks.append(text.decode())
        elif text:
            if depth:
                crc = crc32(text + b'\n', crc)
            depth += 1
        elif length is not None:
            yield length, depth, crc, marks
            length = None


AHEAD = 3000


class Tally:
    def __init__(self, lines):
        self.n, self.wrong, self.deepest, self.unreadable = [0, 0], [0, 0], 0, 0
        self.accounts, self.at, self.lost = [tuple(map(int, line.split())) for line in lines], 0, 0

    def find(self, depth, crc, may_be_lost):
        """Returns Python's own account of this stack. If strata reported lost events, it may be a later
        one in the list."""
        for i in range(self.at, min(self.at + AHEAD, len(self.accounts)) if may_be_lost else 0):
            if self.accounts[i][:2] == (depth, crc):
                self.lost += i - self.at
                self.at = i
                break
        self.at += 1
        return self.accounts[self.at - 1]

    def end(self, may_be_lost):
        """Accounts that remain at the end count as lost; strata has to report as many."""
        if may_be_lost:
            self.lost += len(self.accounts) - self.at

    def add(self, length, depth, crc, marks, may_be_lost):
        if any('stack lost' in mark for mark in marks):
            self.lost += 1
            self.at += 1
            return
        want_depth, want_crc, released = self.find(depth, crc, may_be_lost)
        self.n[released] += 1
        self.deepest = max(self.deepest, want_depth)
        if (length, depth, crc, marks) == (want_depth, want_depth, want_crc, []):
            return
        if marks == ['[interpreter frame not readable]']: # the kernel was moving the page (compaction)
            self.unreadable += 1
        else:
            self.wrong[released] += 1
        if sum(self.wrong) + self.unreadable <= 5:
            print(f'  stack {sum(self.n)}: len {length}, {depth} frames, checksum {crc:x} '
                  f'{marks}; Python says {want_depth}, {want_crc:x}, GIL released: {released}')


def libc_of(pid):
    """Returns the file of libc to attach to: 'libc' if the process has its own root, else a path."""
    if not os.path.samefile(f'/proc/{pid}/root', '/'):
        return 'libc'
    with open(f'/proc/{pid}/maps') as maps:
        files = {line.split(None, 5)[5].strip() for line in maps if '/' in line}
    found = [f for f in files if re.search(r'/(libc[.-][^/]*so|ld-musl-)', f)]
    return found[0] if found else os.readlink(f'/proc/{pid}/exe')


def programs_of(names):
    """Yields (name, program) of each; reports a program that is not available."""
    sys.path.insert(0, os.path.join(HERE, '..', '..', 'pythons'))
    import pythons
    groups = {'packaged': pythons.names(), 'all': pythons.all_names()}
    for name in sum((groups.get(name, [name]) for name in names), []):
        try:
            yield name, name if '/' in name else str(pythons.get(name) / 'python')
        except pythons.Missing as why:
            yield name, why


def may_be_missing(name, why):
    """Returns whether a Python may be missing: building one needs compilers that may be absent."""
    import absent
    import pythons
    return not absent.fails(name, why) or name in pythons.BUILT


def compare(strata, calls, name, python):
    """Returns whether all but one of 10,000 stacks agree, few could not be read, and few events were lost."""
    import traced
    with tempfile.NamedTemporaryFile('w', encoding='utf-8', suffix='.py', dir='/tmp') as copy:
        with open(__file__, encoding='utf-8') as own:  # /tmp exists whatever the root is
            copy.write(own.read())
        copy.flush()
        process = traced.start(python, copy.name, '--program', calls, cwd='/tmp')
        version = process.stdout.readline().decode().strip()
        libc = libc_of(process.pid)
        lines, printed, said = traced.beside(process, strata, SCRIPT % (libc, libc, process.pid))
    tally = Tally(lines)
    for stack in stacks(printed):
        tally.add(*stack, may_be_lost=b'lost' in said)
    tally.end(b'lost' in said)
    n, wrong = sum(tally.n), sum(tally.wrong)
    print(f'{name} ({version}): {n} stacks of {len(lines)} calls to {tally.deepest} frames deep; '
          f'GIL held: {tally.wrong[0]} of {tally.n[0]} differ, released: {tally.wrong[1]} of {tally.n[1]}; {tally.lost} lost, '
          f'{tally.unreadable} not readable {said.decode().strip()}', flush=True)
    ok = n + tally.lost == len(lines) and tally.lost * 10 <= len(lines) and wrong * 10000 <= n and tally.unreadable <= 1 + n // 1000
    ok &= tally.lost <= sum(map(int, re.findall(rb'(\d+) (?:events|stacks) lost', said)))
    if not ok:
        print(f'{name}: FAILED', flush=True)
    return ok


def main(strata, calls=1000, *names):
    ok = True
    for name, python in programs_of(names or ['/usr/bin/python3']):
        ok &= may_be_missing(name, python) if isinstance(python, Exception) else compare(strata, int(calls), name, python)
    return not ok


if __name__ == '__main__':
    if sys.argv[1] == '--program':
        program(int(sys.argv[2]))
    elif os.geteuid():
        print('needs root')
        sys.exit(77)  # skipped
    else:
        sys.exit(main(*sys.argv[1:]))
