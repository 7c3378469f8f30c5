# SPDX-License-Identifier: Apache-2.0
"""peer.py - the bpftrace that strata is compared with.

It is the bpftrace of PATH where that is 0.27 or newer, else Debian sid's, in a tree under
build/peers that debootstrap makes once. The tree is entered through a mount namespace of
its own, held by a process that ends with us: nothing is left mounted, and any number of
runs may share the tree."""
import contextlib
import fcntl
import pathlib
import re
import shutil
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
PEERS = TOP / 'build' / 'peers'
TREE = PEERS / 'sid'
WANTED = (0, 27)

# $1: the tree, $2: what it sees of ours, at the same place. Ends when its input does.
HOLD = """
mount --bind "$1" "$1" && mount --make-rprivate "$1" || exit
for d in proc sys dev; do mount --rbind /$d "$1/$d" || exit; done
mkdir -p "$1$2" && mount --bind "$2" "$1$2" && exec chroot "$1" sh -c 'echo ready; exec cat'
"""


class Missing(Exception):
    """There is no bpftrace, and why."""


def version(command):
    try:
        out = subprocess.run(command + ['--version'], capture_output=True, text=True).stdout
    except OSError:
        return (0, 0)
    found = re.search(r'v(\d+)\.(\d+)', out)
    return tuple(map(int, found.groups())) if found else (0, 0)


def make_tree():
    """Debian sid with bpftrace at TREE, whole or not at all."""
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
    """How a mount namespace of our own is cut off. Where our root is no mount, as in a
    chroot, it cannot be; there the tree's own mount is."""
    with open('/proc/self/mountinfo') as mounts:
        return 'slave' if any(line.split()[4] == '/' for line in mounts) else 'unchanged'


@contextlib.contextmanager
def held(tree):
    """The id of a process whose root is the tree."""
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
def peer():
    """(the command that runs bpftrace, the folder its tools are in). The command becomes
    bpftrace by exec: it keeps its process id."""
    if version(['bpftrace']) >= WANTED:
        yield ['bpftrace'], pathlib.Path('/usr/sbin')
        return
    PEERS.mkdir(parents=True, exist_ok=True)
    with open(PEERS / 'lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (TREE / 'usr/bin/bpftrace').exists():
            make_tree()
    with held(TREE) as pid:
        command = ['nsenter', '-t', str(pid), '-m', '-r', 'bpftrace']
        if version(command) < WANTED:
            raise Missing(f'the bpftrace of {TREE} does not run or is too old')
        yield command, TREE / 'usr/sbin'
