#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_java.py - records the cores of Java for replay.py: several versions run Core.java, interpreted and compiled, and
then dump core, in an emulated arm64 machine, where slim runs, too.

    make_java.py [VERSION...]      build/arm64 has slim; writes javaVERSION-arm64.files.tar.xz,
                                   javaVERSION-arm64.HOW.core.xz and .account here"""
import io
import pathlib
import shutil
import sys
import tempfile

import make
import make_node

HERE, JAVA = make.HERE, make.HERE.parent / 'hotspot'
sys.path.insert(0, str(JAVA))
import javas
import machine

VERSIONS = ['8', '11', '17', '21', '25', '26']
# (how, rounds before the threads stay, Java's options)
CASES = [('interpreted', 20, '-Xint'), ('c1', 3000, '-Xbatch -XX:TieredStopAtLevel=1'),
         ('c2', 3000, '-Xbatch -XX:-TieredCompilation -XX:CompileThreshold=1000'), ('tiered', 3000, '')]
# Small cores. Without an archive of classes all metadata is in memory that a core has; Method.invoke() always calls C++.
ALWAYS = ('-Xshare:off -Xmx24m -Xss512k -XX:+UseSerialGC -XX:-UsePerfData '
          '-Dsun.reflect.inflationThreshold=2147483647 -Djdk.reflect.useNativeAccessorOnly=true')

PREPARE = r'''
import glob, os, subprocess

subprocess.run('mkdir -p /usr/lib/jvm && mount --bind /cores/root/usr/lib/jvm /usr/lib/jvm && cp -a /cores/root/etc/java-* /etc',
               shell=True, check=True)
java = next(p for pattern in ('bin', 'jre/bin') for p in glob.glob(f'/usr/lib/jvm/java-*-openjdk-arm64/{pattern}/java'))

os.chdir('/cores')
'''

INSIDE = make.PACK + PREPARE + r'''
import signal, time

def record(rounds, options):
    """Runs java until it dumps /tmp/core; returns the account of its threads."""
    traced = subprocess.Popen([java, *options, '-cp', '/cores', 'Core', rounds], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    account = b''
    for line in traced.stdout:
        if line == b'there\n':
            time.sleep(1)
            traced.send_signal(signal.SIGABRT)
            break
        account += line
    traced.wait()
    return account

cores = []
for line in open('cases'):
    how, rounds, *options = line.split()
    account, slim = record(rounds, options), f'/tmp/slim-{how}'
    subprocess.run(['./slim', 'core', '/tmp/core', java, slim], check=True)
    os.unlink('/tmp/core')
    send(how, (account, packed(slim)))
    cores.append(slim)
os.mkdir('/tmp/files')
subprocess.run(['./slim', 'files', '/tmp/files', *cores], check=True)
send('files', [(os.path.join(d, n).removeprefix('/tmp/files'), packed(os.path.join(d, n)))
               for d, _, names in os.walk('/tmp/files') for n in names])
'''


def boot(version, inside, *files, out=sys.stdout):
    """Runs a script in a machine that has a JDK, Core.java, and these files; returns its status."""
    with tempfile.TemporaryDirectory(dir=machine.CACHE) as tree:
        tree = pathlib.Path(tree)
        shutil.copytree(javas.get(f'{version}-arm64') / 'root', tree / 'root', symlinks=True)
        javas.compiled(HERE / 'Core.java', tree)
        for path in files:
            shutil.copy2(path, tree)
        (tree / 'inside.py').write_text(inside)
        (tree / 'cases').write_text(''.join(f'{how} {rounds} {ALWAYS} {options}\n' for how, rounds, options in CASES))
        return machine.boot('arm64', 'trixie', tree, 'python3 inside.py', at='/cores', out=out, timeout=1800)


def recorded(version):
    """(name, content) of each case, and of the version's files."""
    out = io.StringIO()
    if boot(version, INSIDE, make_node.SLIM, out=out):
        sys.exit(out.getvalue()[-2000:])
    yield from make.sent(out.getvalue())


def main(*versions):
    for version in versions or VERSIONS:
        for how, what in recorded(version):
            if how == 'files':
                make.write(f'java{version}-arm64.files.tar.xz', make_node.archive(what))
                continue
            account, core = what
            make.write(f'java{version}-arm64.{how}.core.xz', make.unpacked(core))
            (HERE / f'java{version}-arm64.{how}.account').write_bytes(account)


if __name__ == '__main__':
    main(*sys.argv[1:])
