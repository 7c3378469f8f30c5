#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""binaries.py - unpacks official builds of node, from npm's packages, in build/node (or in STRATA_NODE);
and Debian's node.

    binaries.py VERSION...      unpacks these versions, and prints the path of each"""
import fcntl
import os
import pathlib
import shutil
import sys
import tarfile
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[3]
CACHE = pathlib.Path(os.environ.get('STRATA_NODE', TOP / 'build' / 'node'))
PACKAGES = pathlib.Path(os.environ.get('STRATA_PACKAGES', TOP / 'build' / 'packages'))
MACHINES = {'x86_64': 'x64', 'aarch64': 'arm64'}
sys.path.insert(0, str(TOP / 'tests' / 'lib'))
import packages
from absent import Missing

VERSIONS = ['12', '14', '16', '18', '20', '22', '24', '26']


BUNDLES = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt']


def trusting():
    """Returns npm's environment: npm trusts the system's certificates, not only those built into node."""
    bundle = next((path for path in BUNDLES if os.path.exists(path)), None)
    return {'NODE_EXTRA_CA_CERTS': bundle, **os.environ} if bundle else None


def fetch(package, new):
    if not shutil.which('npm'):
        raise Missing('there is no npm to fetch it with')
    packages.run(['npm', 'pack', '--loglevel=error', '--fetch-retry-mintimeout=1000',
                  '--fetch-retry-maxtimeout=4000', package], cwd=new, stdout=sys.stderr, env=trusting())


missing = {}  # packages that could not be fetched, and why: each is requested once


def unpacked(what, unpack):
    """Returns CACHE/what. The first call makes it: unpack(directory) unpacks it there and returns the path."""
    where = CACHE / what
    if where in missing:
        raise missing[where]
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / 'lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not where.exists():
            print(f'node: unpacking {what} (once)', file=sys.stderr)
            with tempfile.TemporaryDirectory(dir=CACHE) as new:
                try:
                    shutil.move(unpack(new), where)
                except Missing as why:
                    missing[where] = why
                    raise
    return where


def from_npm(package, part):
    """Returns the directory of the package that is, or contains, this part."""
    def unpack(new):
        fetch(package, new)
        with tarfile.open(next(pathlib.Path(new).glob('*.tgz'))) as archive:
            archive.extractall(new, [m for m in archive if m.name.startswith(f'package/{part}')])
        return f'{new}/package/{part.split("/")[0]}'
    return unpack


def node(version, machine=os.uname().machine):
    """Returns the program; the first call unpacks it. version: "20" is the newest 20."""
    package = f'node-linux-{MACHINES[machine]}@{version}'
    return unpacked(f'{version}-{machine}', from_npm(package, 'bin/node')) / 'node'


def libnode(suite='trixie'):
    """Returns a root with Debian's node and its libnode.so; the first call unpacks it."""
    def unpack(new):
        arch = {'x86_64': 'amd64', 'aarch64': 'arm64'}[os.uname().machine]
        packages.unpack_whole(PACKAGES, suite, arch, f'{new}/root', ['nodejs'])
        return f'{new}/root'
    return unpacked(f'libnode-{suite}', unpack)


def headers():
    """Returns the directory of the headers for addons."""
    return unpacked('headers', from_npm('node-api-headers', 'include'))


def copy_of(program, to, n):
    """Makes another program, with its own build ID, whose last bytes are n."""
    data = bytearray(program.read_bytes())
    at = data.index(b'\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0')  # the note's head; 20 bytes of build id follow
    data[at + 32:at + 36] = n.to_bytes(4, 'big')
    to.write_bytes(data)
    to.chmod(0o755)


if __name__ == '__main__':
    for wanted in sys.argv[1:] or VERSIONS:
        print(node(wanted))
