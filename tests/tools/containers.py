#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""containers.py STRATA - the builtin container in cgroups with the names that runtimes use, and with a file of the container
for runtimes that keep one. Prints TAP."""
import json
import os
import pathlib
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import tap
from absent import as_root

STRATA = os.path.realpath(sys.argv[1])
DIGITS = '0123456789abcdef' * 4
UID = '3f1c2d4e-0a1b-2c3d-4e5f-60718293a4b5'
CRI = {'annotations': {'io.kubernetes.cri.container-name': 'app', 'io.kubernetes.cri.sandbox-name': 'shop-7d9f'}}
CASES = [  # the cgroup, a runtime's file, strata's value
    ('docker/%s', None, '%.12s'),
    ('system.slice/docker-%s.scope', ('/var/lib/docker/containers/%s/config.v2.json', {'ID': 'x', 'Name': '/web'}), 'web'),
    ('machine.slice/libpod-%s.scope/container', None, '%.12s'),
    (f'kubepods.slice/kubepods-burstable-pod{UID.replace("-", "_")}.slice/cri-containerd-%s.scope', None,
     'pod-3f1c2d4e/%.12s'),
    (f'kubepods/besteffort/pod{UID}/%s', ('/run/containerd/io.containerd.runtime.v2.task/k8s.io/%s/config.json', CRI),
     'shop-7d9f/app'),
    ('lxc.payload.mail', None, 'mail'),
    ('machine.slice/machine-build.scope', None, 'build'),
    ('user.slice/session-1.scope', None, ''),
]


def mount():
    for line in open('/proc/self/mountinfo'):
        if ' - cgroup2 ' in line:
            return pathlib.Path(line.split()[4])
    return None


def say(top, name, number):
    """Returns the value of the builtin for a process in that cgroup."""
    path = top / 'strata-test' / (name % number if '%' in name else name)
    path.mkdir(parents=True)
    command = f'sh -c "echo 0 >{path}/cgroup.procs; exec /bin/sleep 0.3"'
    script = 'tracepoint:syscalls:sys_enter_clock_nanosleep /comm == "sleep"/ { print(container); @[container] = count(); }'
    done = subprocess.run([STRATA, '-q', '-c', command, '-e', script], capture_output=True, text=True)
    return done.stdout


def remove(path):
    for root, folders, _ in os.walk(path, topdown=False):
        os.rmdir(root)


def main():
    cases, top = tap.Cases(), mount()
    if not top or (top / 'strata-test').exists():
        print('1..0 # SKIP no cgroup2 is mounted, or another test is in it')
        return 0
    for n, (name, file, wanted) in enumerate(CASES):
        number = f'{n:x}' + DIGITS[1:]
        written = pathlib.Path(file[0] % number) if file else None
        made = [path for path in written.parents if not path.exists()] if written else []
        try:
            if written:
                written.parent.mkdir(parents=True)
                written.write_text(json.dumps(file[1]))
            said = say(top, name, number)
        finally:
            if written:
                written.unlink(missing_ok=True)
                for path in made:
                    path.rmdir()
            remove(top / 'strata-test')
        wanted = wanted % number if '%' in wanted else wanted
        cases.check(said == f'{wanted}\n\n\n@[{wanted}]: 1\n', f'{name}: {wanted or "none"}', said)
    return cases.done()


if __name__ == '__main__':
    sys.exit(as_root(main))
