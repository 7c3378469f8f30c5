#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rights.py STRATA - strata with fewer rights than root, with fewer file descriptors, and the
messages of -l about probes that it cannot list."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import tap

cases = tap.Cases()
PLAIN = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']


def with_caps(*caps):
    text = ','.join('+' + cap for cap in caps)
    return PLAIN + ['--inh-caps', text, '--ambient-caps', text]


def run(strata, *args, before=()):
    return subprocess.run([*before, strata, *args], capture_output=True, text=True, timeout=60, cwd='/')


def ordinary_user(strata):
    done = run(strata, '-l', 'tracepoint:sched:*', before=PLAIN)
    cases.check(done.returncode == 1 and 'closed to this user' in done.stderr and 'sudo' in done.stderr,
                'an ordinary user: tracepoints are not listed, and why', done)
    done = run(strata, '-l', '*sched_switch', before=PLAIN)
    cases.check('rawtracepoint:vmlinux:sched_switch' in done.stdout and 'closed to this user' in done.stderr,
                'the other probes are listed', done)
    done = run(strata, '-e', 'tracepoint:sched:sched_switch { @++ }', before=PLAIN)
    cases.check(done.returncode == 1 and 'not mounted' not in done.stderr and 'CAP_DAC_READ_SEARCH' in done.stderr,
                'nor traced', done)


def capabilities(strata):
    for probe in 'rawtracepoint:sys_enter', 'uprobe:libc:malloc', 'profile:hz:99':
        done = run(strata, '-e', f'{probe} {{ @ = count(); }} interval:ms:200 {{ exit(); }}',
                   before=with_caps('bpf', 'perfmon'))
        cases.check(done.returncode == 0 and 'error' not in done.stderr, f'CAP_BPF and CAP_PERFMON: {probe}', done)
    done = run(strata, '-e', 'tracepoint:sched:sched_switch { @++ } interval:ms:200 { exit(); }',
               before=with_caps('bpf', 'perfmon'))
    cases.check(done.returncode == 1 and 'CAP_DAC_READ_SEARCH' in done.stderr, 'the message has the needs of tracepoints', done)
    done = run(strata, '-e', 'tracepoint:sched:sched_switch { @++ } interval:ms:200 { exit(); }',
               before=with_caps('bpf', 'perfmon', 'dac_read_search'))
    cases.check(done.returncode == 0, 'and it is enough', done)


def few_files(strata):
    scripts = 'begin { }', 'profile:hz:99 { @[ustack] = count(); } interval:ms:100 { exit(); }', \
        'tracepoint:syscalls:* { @ = count(); } interval:ms:100 { exit(); }'
    for n in 6, 8, 12, 16, 20, 30, 45, 60:
        for script in scripts:
            done = run(strata, '-e', script, before=['prlimit', f'--nofile={n}'])
            cases.check(done.returncode == 0 or ('open' in done.stderr and 'should not happen' not in done.stderr),
                        f'{n} files, {script[:12]}: runs, or says why not', done)
    done = run(strata, '-q', '-e', 'tracepoint:syscalls:* { } interval:ms:500 { exit(); }', '-c', 'sh -c "ulimit -n"',
               before=['prlimit', '--nofile=60:4096'])
    cases.check(done.returncode == 0 and done.stdout.startswith('60\n'),
                'the limit is raised for strata, not for the command', done)


def listing(strata, dir):
    for pattern in 'no_such_probe', 'tracepoint:no_such:*', 'uprobe:libc:no_such*', 'rawtracepoint:no_such':
        done = run(strata, '-l', pattern)
        cases.check(done.returncode == 1 and not done.stdout and 'no probe matches' in done.stderr,
                    f'-l {pattern}: nothing matches', done)
    script = 'begin { printf("ran"); } interval:s:1 { } tracepoint:syscalls:sys_enter_getp*id { @ = args.x; } end { }'
    want = ['interval:s:1', 'tracepoint:syscalls:sys_enter_getpgid', 'tracepoint:syscalls:sys_enter_getpid',
            'tracepoint:syscalls:sys_enter_getppid']
    done = run(strata, '-l', '-e', script)
    cases.check(done.returncode == 0 and sorted(done.stdout.split()) == want, "-l -e lists the program's probes", done)
    (dir / 'script').write_text(script)
    done = run(strata, '-l', str(dir / 'script'))
    cases.check(done.returncode == 0 and sorted(done.stdout.split()) == want, '-l FILE, too', done)


def main():
    with tempfile.TemporaryDirectory() as name:
        dir = pathlib.Path(name)
        dir.chmod(0o755)
        strata = str(shutil.copy(sys.argv[1], dir / 'strata'))  # in a directory that all users may read
        os.environ.pop('STRATA_CACHE_DIR', None)
        ordinary_user(strata)
        capabilities(strata)
        few_files(strata)
        listing(strata, dir)
    sys.exit(cases.done())


main()
