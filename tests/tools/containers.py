#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""containers.py STRATA - the builtin container in cgroups with the names that runtimes use, and with a file of the container
for runtimes that keep one. Prints TAP."""
import json
import os
import pathlib
import re
import signal
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
    script = 'tracepoint:syscalls:sys_enter_clock_nanosleep /comm == "sleep"/ { print(container); @[container, pod] = count(); }'
    done = subprocess.run([STRATA, '-q', '-c', command, '-e', script], capture_output=True, text=True)
    return done.stdout


CALLS = 'import os; [os.getppid() for _ in range(int({n}))]'


def calls(top, number, n):
    """A process in the container makes n calls."""
    path = top / 'strata-test' / 'docker' / number
    path.mkdir(parents=True, exist_ok=True)
    subprocess.run(['sh', '-c', f'echo 0 >{path}/cgroup.procs; exec /usr/bin/python3 -S -E -c "{CALLS.format(n=n)}"'], check=True)


def counts(options, predicate, top, numbers):
    """Traces containers that start, and end, while strata runs. Returns its output."""
    script = f'tracepoint:syscalls:sys_enter_getppid /{predicate}/ {{ @[container] = count(); }} END {{ printf("end\\n"); }}'
    with subprocess.Popen([STRATA, *options, '-e', script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as tracer:
        begun = tracer.stdout.readline()
        for n, number in enumerate(numbers):
            calls(top, number, 1000 * (n + 1))
        subprocess.run(['/usr/bin/python3', '-S', '-E', '-c', CALLS.format(n=500)], check=True)
        tracer.send_signal(signal.SIGINT)
        return begun + tracer.communicate(timeout=60)[0]


def test_filters(cases, top):
    """Each event of a container that starts later is decided, the first one too."""
    numbers = [digit * 64 for digit in 'abc']
    short = [number[:12] for number in numbers]
    count = dict(zip(short, (1000, 2000, 3000)))
    os.makedirs(top / 'strata-test', exist_ok=True)
    for options, predicate, wanted in (
            ((), 'container == "%s"' % short[0], short[:1]), ((), 'container != "" && container != "%s"' % short[0], short[1:]),
            ((), 'in_cgroup("/strata-test")', short), ((), 'container == "%s" || container == "c*"' % numbers[0], [short[0], short[2]]),
            ((), 'container != "" && pod == ""', short), ((), 'pod == "*" || in_container(pod, "x")', []), ((), 'container != "" && pod != "shop-*"', short),
            (('--container', short[1]), '1', short[1:2]), (('--container', numbers[2]), 'comm == "python3"', short[2:]),
            (('--cgroup', '/strata-test'), '1', short), (('--cgroup', f'{top}/strata-test', '--container', 'a*'), '1', short[:1]),
            (('--cgroup', '/strata-test', '--user', 'root'), '1', short), (('--cgroup', '/strata-test', '--user', 'nobody'), '1', [])):
        said = counts(options, predicate, top, numbers)
        seen = {key: int(n) for key, n in re.findall(r'^@\[(\w*)\]: (\d+)$', said, re.M)}
        cases.check(seen == {key: count[key] for key in wanted}, f'{" ".join(options)} /{predicate}/', said)
    script = 'profile:hz:99 { @ = count(); } interval:ms:100 { exit(); }'
    done = subprocess.run([STRATA, '--container', 'none', '-e', script], capture_output=True, text=True)
    cases.check('warning: no container has the name, pod or ID none\n' in done.stderr, '--container of no container', done.stderr)
    done = subprocess.run([STRATA, '--cgroup', '/none', '-e', 'begin { }'], capture_output=True, text=True)
    cases.check('there is no cgroup (v2) /none' in done.stderr and done.returncode, '--cgroup of no cgroup', done.stderr)
    done = subprocess.run([STRATA, '--cgroup', '/cgroup.procs', '-e', 'begin { }'], capture_output=True, text=True)
    cases.check('Not a directory' in done.stderr and done.returncode, '--cgroup: the reason', done.stderr)
    command = f'''mount --bind {top}/strata-test /mnt && umount {top} && mount -t cgroup2 none {top} &&
        exec {STRATA} -q --cgroup /strata-test -e 'begin {{ print(1); exit(); }}\''''
    done = subprocess.run(['unshare', '-m', 'sh', '-c', command], capture_output=True, text=True)
    cases.check(done.stdout.split() == ['1'], '--cgroup, where a part of the tree is mounted before its root', done)
    done = subprocess.run([STRATA, '--user', 'none-such', '-e', 'begin { }'], capture_output=True, text=True)
    cases.check('there is no user none-such' in done.stderr and done.returncode, '--user of no user', done.stderr)


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
        pod = wanted.partition('/')[0] if '/' in wanted else ''
        cases.check(said == f'{wanted}\n\n\n@[{wanted}, {pod}]: 1\n', f'{name}: {wanted or "none"}', said)
    try:
        test_filters(cases, top)
    finally:
        remove(top / 'strata-test')
    return cases.done()


if __name__ == '__main__':
    sys.exit(as_root(main))
