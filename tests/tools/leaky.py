# SPDX-License-Identifier: Apache-2.0
"""leaky.py LIBRARY - calls C that leaks, and C that does not. Prints the bytes that are lost."""
import ctypes
import sys

library = ctypes.CDLL(sys.argv[1])


def handle(size):
    library.remember(size)
    library.forget(size * 3)


sys.stdin.readline()
for n in range(100):
    handle(1000 + n)
print(sum(1000 + n for n in range(100)))
