# SPDX-License-Identifier: Apache-2.0
"""threads.py - threads that compute, wait for a lock, and sleep. Prints its own account, as JSON."""
import ctypes
import faulthandler
import json
import os
import sys
import threading
import time

pthread = ctypes.CDLL(None)  # a lock that is not Python's: calls release the GIL
lock = (ctypes.c_char * 64)()
account = {}


def hold_lock(begin):
    pthread.pthread_mutex_lock(lock)
    begin.set()
    time.sleep(0.3)
    pthread.pthread_mutex_unlock(lock)


def want_lock(begin):
    begin.wait()
    begun = time.perf_counter_ns()
    pthread.pthread_mutex_lock(lock)
    account['waited_us'] = (time.perf_counter_ns() - begun) // 1000
    pthread.pthread_mutex_unlock(lock)


def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
    account.setdefault('spun', []).append(threading.get_native_id())


def rest():
    account['rested'] = threading.get_native_id()
    time.sleep(0.5)


def run(*threads):
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def locks():
    begin = threading.Event()
    run(threading.Thread(target=hold_lock, args=(begin,)), threading.Thread(target=want_lock, args=(begin,)))


def gil():
    begun = time.perf_counter()
    run(*(threading.Thread(target=spin, args=(0.4,)) for _ in range(2)))
    account['wall_us'] = int((time.perf_counter() - begun) * 1e6)


def mixed():
    run(threading.Thread(target=spin, args=(0.3,)), threading.Thread(target=rest))


def in_futex(thread):
    """Returns whether the thread waits in the system call futex (its number: asm/unistd.h)."""
    with open(f'/proc/self/task/{thread.native_id}/syscall') as call:
        return call.read().split()[0] == {'x86_64': '202', 'aarch64': '98'}[os.uname().machine]


def stand():
    """Waits in three threads; faulthandler prints the places."""
    gate = threading.Event()
    others = [threading.Thread(target=gate.wait, daemon=True) for _ in range(2)]
    for thread in others:
        thread.start()
    deadline = time.monotonic() + 30
    while not all(in_futex(thread) for thread in others) and time.monotonic() < deadline:
        os.sched_yield()
    faulthandler.dump_traceback(all_threads=True)
    sys.stderr.write('pid %d\n' % os.getpid())
    sys.stderr.flush()
    time.sleep(60)


sys.stdin.readline()
{'locks': locks, 'gil': gil, 'mixed': mixed, 'stand': stand}[sys.argv[1]]()
print(json.dumps(account))
