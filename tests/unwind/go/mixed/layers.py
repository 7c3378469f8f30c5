# SPDX-License-Identifier: Apache-2.0
# layers.py - the Python part of main.go.
import sys
import mixed


def account(_):
    frame, names = sys._getframe().f_back, []
    while frame:
        names.append(f'{frame.f_code.co_qualname}:{frame.f_lineno}')
        frame = frame.f_back
    return ' '.join(names)


def plain(n):
    call(n)


def call(n):
    mixed.go(n)


def sorts(n):
    sorted([n], key=lambda x: mixed.go(x))


def generates(n):
    def inner():
        yield mixed.go(n)
    for _ in inner():
        pass
