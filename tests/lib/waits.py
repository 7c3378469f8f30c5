# SPDX-License-Identifier: Apache-2.0
"""waits.py - waits for an event, with a deadline, instead of a sleep. On a machine that is N times slower than usual
(STRATA_SLOW=N in the environment) the deadlines are N times later."""
import fcntl
import os
import pathlib
import re
import select
import sys
import termios
import time

SLOW = int(os.environ.get('STRATA_SLOW', 1))
PAUSE = 0.01
READ = {'x86_64': '0', 'aarch64': '63'}  # the number of read() in the kernel's tables of system calls


def comes(holds, seconds=20):
    """Waits until holds() returns a true value, and returns it; returns the last value at the deadline."""
    end = time.monotonic() + seconds * SLOW
    while not (value := holds()) and time.monotonic() < end:
        time.sleep(PAUSE)
    return value


def until(holds, what, seconds=20):
    """Like comes(), but raises TimeoutError at the deadline, which says that it waited for `what`."""
    value = comes(holds, seconds)
    if not value:
        raise TimeoutError(f'waited {seconds * SLOW} s for {what}')
    return value


def stays(holds, seconds):
    """Returns whether holds() is true for this time. This is for events that must not happen: a slow machine cannot
    make it false."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not holds():
            return False
        time.sleep(PAUSE)
    return holds()


def state(pid, tid=None):
    """Returns the state of a thread as one letter; 'X' if it has ended."""
    try:
        return pathlib.Path(f'/proc/{pid}/task/{tid or pid}/stat').read_text().rpartition(')')[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return 'X'


def threads(pid):
    """Returns the IDs of the threads of a process."""
    try:
        return [int(tid) for tid in os.listdir(f'/proc/{pid}/task')]
    except FileNotFoundError:
        return []


def asleep(pid):
    """Waits until all threads of a process sleep."""
    until(lambda: all(state(pid, tid) in 'SXZ' for tid in threads(pid)), f'the threads of process {pid} to sleep')


def stopped(pid):
    """Waits until all threads of a process are stopped, after SIGSTOP."""
    until(lambda: all(state(pid, tid) in 'TX' for tid in threads(pid)), f'process {pid} to stop')


def is_reading(pid, fd=0):
    """Returns whether a thread of a process waits in read() of a file descriptor, or an epoll instance watches that for it."""
    wanted = [READ[os.uname().machine], hex(fd)]
    try:
        return (any(pathlib.Path(f'/proc/{pid}/task/{tid}/syscall').read_text().split()[:2] == wanted for tid in threads(pid))
                or any(re.search(rf'^tfd:\s+{fd} ', info.read_text(), re.M) for info in pathlib.Path(f'/proc/{pid}/fdinfo').iterdir()))
    except OSError:  # a thread or a file descriptor has gone
        return False


def reading(pid, fd=0):
    """Waits until a process waits for input from a file descriptor, standard input by default."""
    until(lambda: is_reading(pid, fd), f'process {pid} to read from its file descriptor {fd}')


def spent(pid):
    """Returns the seconds in which the threads of a process ran, or were ready to run but had no CPU."""
    total = 0
    for tid in threads(pid):
        try:
            total += sum(map(int, pathlib.Path(f'/proc/{pid}/task/{tid}/schedstat').read_text().split()[:2]))
        except OSError:  # the thread has ended
            pass
    return total / 1e9


def cpu_time(pid):
    """Returns the seconds in which the main thread of a process ran."""
    return int(pathlib.Path(f'/proc/{pid}/schedstat').read_text().split()[0]) / 1e9


def status(pid, name, base=10):
    """Returns a number of /proc/PID/status."""
    return int(re.search(rf'^{name}:\s*(\w+)', pathlib.Path(f'/proc/{pid}/status').read_text(), re.M)[1], base)


def level(pipe):
    """Returns the number of bytes in a pipe."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def full(pipe):
    """Returns whether a pipe, of which we have the reading end, takes no more. The number of bytes does not tell: each write
    begins a page of its own unless it fits into the last one."""
    fd = os.open(f'/proc/self/fd/{pipe if isinstance(pipe, int) else pipe.fileno()}', os.O_WRONLY | os.O_NONBLOCK)
    try:
        return not select.select([], [fd], [], 0)[1]
    finally:
        os.close(fd)


def child(pid):
    """Waits until a process has a child, and returns its ID."""
    path = pathlib.Path(f'/proc/{pid}/task/{pid}/children')
    return int(until(lambda: path.read_text().split(), f'process {pid} to have a child')[0])


def ended(pid):
    """Waits until a process has ended; its parent need not have heard of that."""
    until(lambda: state(pid) in 'ZX', f'process {pid} to end')


def taken(pid):
    """Waits until no signal is pending for a process."""
    until(lambda: not status(pid, 'SigPnd', 16) | status(pid, 'ShdPnd', 16), f'process {pid} to take its signals')


def idle(pid, seconds=60):
    """Waits until a tracer has dealt with all that it was sent: all of its threads sleep, and did nearly nothing in the
    last half second, in which it looks at its buffers several times."""
    seen = [(time.monotonic(), spent(pid))]

    def is_idle():
        now, total = time.monotonic(), spent(pid)
        seen.append((now, total))
        while now - seen[0][0] > 0.6:
            seen.pop(0)
        return (now - seen[0][0] >= 0.5 and total - seen[0][1] < 0.05
                and all(state(pid, tid) in 'SXZ' for tid in threads(pid)))

    until(is_idle, f'process {pid} to have nothing to do', seconds)
