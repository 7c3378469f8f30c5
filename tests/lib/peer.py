# SPDX-License-Identifier: Apache-2.0
"""peer.py - the bpftrace that strata is compared with.

It is the bpftrace of PATH if that is 0.27 or newer, otherwise Debian sid's, in a tree under
build/peers that debootstrap makes once. Commands enter the tree through a separate mount
namespace. A process that ends with the test holds it, so nothing stays mounted, and any number
of runs may share the tree."""
import contextlib
import ctypes
import fcntl
import os
import pathlib
import platform
import re
import shutil
import struct
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
PEERS = TOP / 'build' / 'peers'
TREE = PEERS / 'sid'
WANTED = (0, 27)
BPF_BTF_LOAD = 18  # linux/bpf.h

# $1: the tree; $2: a directory of the host to mount there at the same path. The shell ends with its input.
HOLD = """
mount --bind "$1" "$1" && mount --make-rprivate "$1" || exit
for d in proc sys dev; do mount --rbind /$d "$1/$d" || exit; done
mkdir -p "$1$2" && mount --bind "$2" "$1$2" && exec chroot "$1" sh -c 'echo ready; exec cat'
"""


class Missing(Exception):
    """There is no bpftrace; the message says why."""


def version(command):
    try:
        out = subprocess.run(command + ['--version'], capture_output=True, text=True).stdout
    except OSError:
        return (0, 0)
    found = re.search(r'v(\d+)\.(\d+)', out)
    return tuple(map(int, found.groups())) if found else (0, 0)


def make_tree():
    """Makes Debian sid with bpftrace at TREE, completely or not at all."""
    if not shutil.which('debootstrap'):
        raise Missing('debootstrap is needed to install it')
    print('peer: making a tree of Debian sid with bpftrace (once)', file=sys.stderr)
    new = PEERS / 'sid.new'
    shutil.rmtree(new, ignore_errors=True)
    done = subprocess.run(['debootstrap', '--variant=minbase', '--include=bpftrace', 'sid', new],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise Missing('debootstrap failed: ' + done.stdout.strip().rpartition('\n')[2])
    new.rename(TREE)


def propagation():
    """Returns the argument of unshare's --propagation. If our root is not a mount point, as in a chroot, its
    propagation cannot be changed; then HOLD changes that of the tree's own mount."""
    with open('/proc/self/mountinfo') as mounts:
        return 'slave' if any(line.split()[4] == '/' for line in mounts) else 'unchanged'


@contextlib.contextmanager
def held(tree):
    """Returns the ID of a process whose root is the tree."""
    holder = subprocess.Popen(['unshare', '--mount', '--propagation', propagation(),
                               'sh', '-c', HOLD, 'hold', tree, TOP],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        if holder.stdout.readline() != b'ready\n':
            raise Missing(f'{tree} cannot be entered')
        yield holder.pid
    finally:
        holder.stdin.close()
        holder.stdout.close()
        holder.wait()


@contextlib.contextmanager
def other_btf():
    """Loads a BTF object next to the kernel's own. Nearly every machine has one; without it, bpftrace 0.27 does not find
    raw tracepoints."""
    names = b'\0int\0'
    integer = struct.pack('<IIII', 1, 1 << 24, 4, 1 << 24 | 32)  # name, kind, size; signed, of 32 bits
    data = struct.pack('<HBBIIIII', 0xeb9f, 1, 0, 24, 0, len(integer), len(integer), len(names)) + integer + names
    held = ctypes.create_string_buffer(data, len(data))
    attributes = struct.pack('<QQII', ctypes.addressof(held), 0, len(data), 0)
    fd = ctypes.CDLL(None, use_errno=True).syscall({'x86_64': 321, 'aarch64': 280}[platform.machine()], BPF_BTF_LOAD,
                                                   attributes, len(attributes))
    try:
        yield
    finally:
        if fd >= 0:
            os.close(fd)


@contextlib.contextmanager
def peer():
    """Returns (the command that runs bpftrace, the folder of its tools). The command execs bpftrace, so
    the process ID stays the same."""
    if version(['bpftrace']) >= WANTED:
        yield ['bpftrace'], pathlib.Path('/usr/sbin')
        return
    PEERS.mkdir(parents=True, exist_ok=True)
    with open(PEERS / 'lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (TREE / 'usr/bin/bpftrace').exists():
            make_tree()
    with held(TREE) as pid, other_btf():
        command = ['nsenter', '-t', str(pid), '-m', '-r', 'bpftrace']
        if version(command) < WANTED:
            raise Missing(f'the bpftrace of {TREE} does not run or is too old')
        yield command, TREE / 'usr/sbin'
