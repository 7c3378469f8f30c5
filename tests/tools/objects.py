# SPDX-License-Identifier: Apache-2.0
"""objects.py [account] - makes objects of Python, which are kept. account: prints their bytes, by tracemalloc."""
import itertools
import sys
import tracemalloc


def make(n):
    return [bytes(100) for _ in itertools.repeat(None, n)], [object() for _ in itertools.repeat(None, n)]


sys.stdin.readline()
if sys.argv[1:] == ['account']:
    tracemalloc.start()
kept = make(20000)
taken = tracemalloc.take_snapshot() if tracemalloc.is_tracing() else None
print(sum(t.size for t in taken.traces if t.size < 512) if taken else 0)
