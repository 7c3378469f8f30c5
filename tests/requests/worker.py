# SPDX-License-Identifier: Apache-2.0
"""worker.py LIBRARY THREADS CALLS - threads and coroutines of Python that work on requests. LIBRARY has publish_context()
and set_record(). A thread sets its record with ctypes, then calls getpriority(5, WHO). Odd threads run two coroutines by
turns: each attaches its own record when it goes on, as a library of contexts does."""
import asyncio
import ctypes
import platform
import sys
import threading

GETPRIORITY = {'x86_64': 140, 'aarch64': 141}[platform.machine()]


class Record(ctypes.Structure):
    _fields_ = [('trace', ctypes.c_uint8 * 16), ('span', ctypes.c_uint8 * 8), ('valid', ctypes.c_uint8),
                ('flags', ctypes.c_uint8), ('size', ctypes.c_uint16), ('attributes', ctypes.c_uint8 * 612)]


library = ctypes.CDLL(sys.argv[1])
library.set_record.argtypes = [ctypes.c_void_p]
syscall = ctypes.CDLL(None).syscall
threads, calls = int(sys.argv[2]), int(sys.argv[3])
begin = threading.Event()


def fill(record, who):
    attributes = bytearray()
    for key, value in (1, 'an older value' if who % 3 == 0 else ''), (2, f'/route/{who % 100}' if who % 4 else ''), (1, f't{who % 5}'):
        if value:
            attributes += bytes([key, len(value)]) + value.encode()
    record.valid = 0
    record.trace[:] = bytes(((who >> i % 3 * 8) + i) & 255 for i in range(16))
    record.span[:] = bytes((who * 7 + i) & 255 for i in range(8))
    record.flags = who % 2
    record.size = len(attributes)
    ctypes.memmove(record.attributes, bytes(attributes), len(attributes))
    record.valid = 1


def call(record, who):
    library.set_record(None if who % 10 == 3 else ctypes.addressof(record))
    if who % 10 == 7:
        record.valid = 0
    syscall(GETPRIORITY, 5, who)


async def task(first, last):
    record = Record()
    for who in range(first, last, 2):
        fill(record, who)
        await asyncio.sleep(0)  # the other coroutine attaches its record
        call(record, who)


async def two_tasks(first, last):
    await asyncio.gather(task(first, last), task(first + 1, last))


def work(number):
    first, record = number * 100000, Record()
    begin.wait()
    syscall(GETPRIORITY, 5, first)  # the thread has not touched the variable yet
    if number % 2:
        asyncio.run(two_tasks(first + 1, first + calls))
    else:
        for who in range(first + 1, first + calls):
            fill(record, who)
            call(record, who)
    library.set_record(None)


workers = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
for worker in workers:
    worker.start()
library.publish_context()
sys.stdin.readline()
begin.set()
for worker in workers:
    worker.join()
