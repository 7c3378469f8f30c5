#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_node.py - records the cores of node for replay.py: several versions print a stack and then dump core
in it, interpreted and compiled, in an emulated arm64 machine, where slim runs, too.

    make_node.py [VERSION...]      build/arm64 has slim; writes nodeVERSION-arm64.files.tar.xz,
                                   nodeVERSION-arm64.WHICH-HOW.core.xz and .account here"""
import io
import pathlib
import shutil
import sys
import tarfile
import tempfile

import make

HERE, NODE = make.HERE, make.HERE.parent / 'v8'
sys.path.insert(0, str(NODE))
import binaries
import machine

SLIM = machine.TOP / 'build' / 'arm64' / 'tests' / 'unwind' / 'cores' / 'slim'
VERSIONS = ['16', '18', '20', '22', '24', '26']
# (which, how, node's options)
CASES = [(11, 'call', ''), (30, 'spin', ''), (150, 'spin', ''), (47, 'interpreted', '--no-opt --no-sparkplug'),
         (23, 'baseline', '--no-opt --always-sparkplug')]

INSIDE = make.PACK + r'''
import signal, time

def record(node, which, how, options):
    """Runs node until it dumps /tmp/core; returns its account of the stack."""
    traced = subprocess.Popen([node, *options, '-r', './core.js', 'program.js', '400', '120'], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, env=dict(os.environ, WHICH=which, HOW='call' if how == 'call' else 'spin'))
    account = b''
    for line in traced.stdout:
        if line.startswith(b'own '):
            account = line[line.index(b'['):]
        elif line.startswith(b'there'):
            time.sleep(4)
            traced.send_signal(signal.SIGABRT)
    traced.wait()
    return account

os.chdir('/cores')
versions = {}
for line in open('cases'):
    version, which, how, *options = line.split()
    node = f'/cores/node{version}'
    account = record(node, which, how, options)
    slim = f'/tmp/{version}.{which}-{how}'
    subprocess.run(['./slim', 'core', '/tmp/core', node, slim], check=True)
    os.unlink('/tmp/core')
    send(f'node{version}-arm64.{which}-{how}', (account, packed(slim)))
    versions.setdefault(version, []).append(slim)
for version, cores in versions.items():
    os.mkdir('/tmp/files')
    subprocess.run(['./slim', 'files', '/tmp/files', *cores], check=True)
    send(f'node{version}-arm64', [(os.path.join(d, n).removeprefix('/tmp/files'), packed(os.path.join(d, n)))
                                  for d, _, names in os.walk('/tmp/files') for n in names])
    subprocess.run(['rm', '-rf', '/tmp/files', *cores])
'''


def boot(versions):
    """(name, content) of each case, and of each version's files."""
    with tempfile.TemporaryDirectory(dir=machine.CACHE) as tree:
        tree = pathlib.Path(tree)
        for version in versions:
            shutil.copy2(binaries.node(version, 'aarch64'), tree / f'node{version}')
        for path in (SLIM, HERE / 'core.js', *NODE.glob('*.js'), *NODE.glob('*.mjs')):
            shutil.copy2(path, tree)
        (tree / 'inside.py').write_text(INSIDE)
        (tree / 'cases').write_text(''.join(f'{v} {which} {how} {options}\n' for v in versions for which, how, options in CASES))
        out = io.StringIO()
        if machine.boot('arm64', 'trixie', tree, 'python3 inside.py', at='/cores', out=out, timeout=3000):
            sys.exit(out.getvalue()[-2000:])
    yield from make.sent(out.getvalue())


def archive(files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode='w') as tar:
        for name, file in sorted(files):
            info, data = tarfile.TarInfo(name.lstrip('/')), make.unpacked(file)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def main(*versions):
    for name, what in boot(versions or VERSIONS):
        if '.' in name:
            account, core = what
            make.write(f'{name}.core.xz', make.unpacked(core))
            (HERE / f'{name}.account').write_bytes(account)
        else:
            make.write(f'{name}.files.tar.xz', archive(what))


if __name__ == '__main__':
    main(*sys.argv[1:])
