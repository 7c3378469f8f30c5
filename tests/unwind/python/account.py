#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""account.py - thousands of stacks, random in shape and depth: Python's own account
beside pystack's, frame by frame (name, file, line), and len(pystack) beside the depth.

    account.py STRATA [CALLS] [PYTHON]      root; the reader
    account.py --program CALLS              the traced program

The program tells a checksum of its frames before each getppid(); the reader makes the
same of what strata prints at the uprobe there."""
import os
import random
import subprocess
import sys
import threading
import zlib

DEEPEST = 5000


# ---- the traced program ------------------------------------------------------

def account(frame):
    """(depth, checksum) from the caller of probe() outwards."""
    depth, crc = 0, 0
    while frame is not None:
        code = frame.f_code
        name = getattr(code, 'co_qualname', code.co_name)
        crc = zlib.crc32(f'{name} {code.co_filename}:{frame.f_lineno}\n'.encode(), crc)
        depth += 1
        frame = frame.f_back
    return depth, crc


told = threading.Lock()


def probe():
    with told:  # one at a time, so that both accounts are in the same order
        depth, crc = account(sys._getframe(1))
        sys.stdout.write(f'{depth + 1} {crc}\n')
        os.getppid()


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


CHEAP = (plain, decorated, from_lambda, from_class)
COSTLY = (generator, comprehension, from_property, from_len, from_exec, from_sort, from_map)
state = threading.local()


def down(n):
    if n <= 0:
        return probe()
    # Shapes that go through C use its stack: most levels of a deep stack are plain.
    costly = state.random.random() < (0.5 if state.depth < 200 else 0.02)
    return state.random.choice(COSTLY if costly else CHEAP)(n)


def work(calls, seed):
    state.random = random.Random(seed)
    for _ in range(calls):
        depth = int(DEEPEST ** state.random.random())
        state.depth = depth
        # Each level is two frames or more; the last few hundred are headroom.
        down(depth // 3)


def program(calls):
    sys.setrecursionlimit(4 * DEEPEST)
    threading.stack_size(512 << 20)
    threads = [threading.Thread(target=work, args=(calls // 4, seed)) for seed in range(4)]
    sys.stdin.readline()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# ---- the reader --------------------------------------------------------------

SCRIPT = '''uprobe:libc:getppid { printf("stack %d%s\\n", len(pystack), pystack(16384)); }'''


def stacks(out):
    """(len, depth, checksum without the innermost frame, marks) of each stack."""
    length, depth, crc, marks = None, 0, 0, []
    for line in out:
        text = line.strip()
        if text.startswith(b'stack '):
            length, depth, crc, marks = int(text[6:]), 0, 0, []
        elif text.startswith(b'['):
            marks.append(text.decode())
        elif text:
            if depth:
                crc = zlib.crc32(text + b'\n', crc)
            depth += 1
        elif length is not None:
            yield length, depth, crc, marks
            length = None


def compare(told_lines, out):
    n = wrong = deepest = 0
    for line, (length, depth, crc, marks) in zip(told_lines, stacks(out)):
        want_depth, want_crc = map(int, line.split())
        n += 1
        deepest = max(deepest, want_depth)
        if (length, depth, crc, marks) != (want_depth, want_depth, want_crc, []):
            wrong += 1
            print(f'stack {n}: len {length}, {depth} frames, checksum {crc:x} {marks}; '
                  f'Python says {want_depth}, {want_crc:x}')
    return n, wrong, deepest


def main(strata, calls, python):
    traced = subprocess.Popen([python, __file__, '--program', str(calls)],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    tracer = subprocess.Popen([strata, '-p', str(traced.pid), '-e', SCRIPT],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    attached = tracer.stderr.readline()
    if not attached.startswith(b'Attached'):
        sys.exit(f'strata said: {attached.decode()}')
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(traced.stdout))
    reader.start()
    traced.stdin.write(b'go\n')
    traced.stdin.close()
    printed = tracer.stdout.read().splitlines()
    reader.join()
    traced.wait()
    n, wrong, deepest = compare(lines, printed)
    print(f'{python}: {n} stacks of {len(lines)} calls, up to {deepest} frames deep, '
          f'{wrong} differ')
    return wrong > 0 or n != len(lines) or n < calls // 4 * 4


if __name__ == '__main__':
    if sys.argv[1] == '--program':
        program(int(sys.argv[2]))
    elif os.geteuid():
        sys.exit(77)  # skipped
    else:
        sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000,
                      sys.argv[3] if len(sys.argv) > 3 else '/usr/bin/python3'))
