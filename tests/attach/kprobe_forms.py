#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kprobe_forms.py STRATA - tests kprobes at addresses, at offsets and of a module."""
import os
import pathlib
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import tap
from features import features

STRATA = os.path.realpath(sys.argv[1])
if os.geteuid():
    print('1..0 # SKIP needs root')
    sys.exit()
cases = tap.Cases()


def strata(*args):
    return subprocess.run([STRATA, *args], capture_output=True, text=True)


address = next(line.split()[0] for line in open('/proc/kallsyms') if line.split()[2] == 'vfs_read')
has_kprobes = 'kprobe' in features(STRATA)

done = strata('-e', f'kprobe:0x{address} {{ exit(); }}')
cases.check(done.returncode == 1 and '--unsafe allows it' in done.stderr, 'an address needs --unsafe', done)
done = strata('--unsafe', '-e', f'kretprobe:0x{address} {{ exit(); }}')
cases.check(done.returncode == 1 and 'a return probe takes no address' in done.stderr, 'a return has no address', done)
done = strata('-l', f'kprobe:0x{address}')
cases.check(done.stdout == f'kprobe:0x{address}\n', '-l of an address', done)
for point, func in ((f'kprobe:0x{address}', 'vfs_read'), ('kprobe:vfs_read+0', 'vfs_read'),
                    ('kprobe:vmlinux:vfs_read', 'vfs_read'), ('k:vmlin*:vfs_rea*', 'vfs_read')):
    if not has_kprobes:
        print(f'# {point}: this kernel has no kprobes')
        continue
    done = strata('-q', '--unsafe', '-e', f'{point} {{ @[func] = count(); }}', '-c', 'cat /etc/hostname')
    cases.check(done.returncode == 0 and f'@[{func}]: ' in done.stdout, point, done)
sys.exit(cases.done())
