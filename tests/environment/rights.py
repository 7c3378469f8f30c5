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


ALL = {'dac_read_search': "stacks of other users' processes may end early", 'syslog': 'kernel functions have no names',
       'sys_ptrace': 'functions of JavaScript have no names'}
PROGRAM = 'import os\nzero = os.open("/dev/zero", 0)\ndef work():\n  while True: os.read(zero, 1 << 20)\nwork()'


def stacks(strata):
    """The five capabilities of the agent's service; each that is missing takes something, and strata says so at the start."""
    script = 'profile:hz:199 { @[comm, ustack, kstack] = count(); } interval:s:2 { exit(); }'
    own = shutil.copy(os.path.realpath('/usr/bin/python3'), pathlib.Path(strata).parent / 'python3') # a file of root
    own.chmod(0o700)
    program = subprocess.Popen([own, '-S', '-c', PROGRAM], env={'PYTHONHOME': '/usr'})

    def seen(*caps):
        done = run(strata, '-p', str(program.pid), '-e', script, before=with_caps('bpf', 'perfmon', *caps))
        named = 'work <string>' in done.stdout
        kernel = subprocess.run(['grep', '-qE', '^ +(do_syscall_64|ksys_read|vfs_read)'], input=done.stdout, text=True).returncode == 0
        return done, named, kernel

    try:
        done, named, kernel = seen(*ALL)
        cases.check(done.returncode == 0 and named and kernel and 'CAP_' not in done.stderr,
                    'five capabilities: stacks of another user, with the names of the kernel', done.stderr, done.stdout[-2000:])
        for lacks, lost in ALL.items():
            done, named, kernel = seen(*(cap for cap in ALL if cap != lacks))
            cases.check(done.returncode == 0 and f'CAP_{lacks.upper()} is missing: {lost}' in done.stderr and
                        done.stderr.count('is missing') == 1, f'without {lacks}: strata says so', done.stderr)
            cases.check(named == (lacks != 'dac_read_search') and kernel == (lacks != 'syslog'), '..and what is lost is that',
                        (named, kernel), done.stdout[-2000:])
        done = run(strata, '-e', 'begin { print(1); exit(); }', before=with_caps('bpf', 'perfmon'))
        cases.check(done.returncode == 0 and 'is missing' not in done.stderr, 'a script without stacks needs none of them', done)
    finally:
        program.kill()
        program.wait()
    for lacks in 'bpf', 'perfmon':
        done = run(strata, '-e', script, before=with_caps(*({'bpf', 'perfmon', *ALL} - {lacks})))
        cases.check(done.returncode == 1 and f'CAP_{lacks.upper()}' in done.stderr, f'without {lacks} nothing runs', done)


def agent(strata):
    """strata agent with and without the five capabilities."""
    with tempfile.TemporaryDirectory() as home:
        home = pathlib.Path(home)
        home.chmod(0o755)
        (home / 'cpu.bt').write_text('profile:hz:99 { @n = count(); @s[kstack] = count(); }')
        (home / 'conf').write_text('[agent]\nwindow = 1s\n')
        for lacks in None, 'syslog':
            before = with_caps('bpf', 'perfmon', *(cap for cap in ALL if cap != lacks))
            done = run(strata, 'agent', '-c', str(home / 'conf'), '--once', str(home), before=before)
            cases.check(done.returncode == 0 and 'strata_cpu_n_total' in done.stdout, f'the agent as another user, without {lacks}', done)
            cases.check(('CAP_SYSLOG is missing' in done.stderr) == (lacks == 'syslog') and
                        done.stderr.count('is missing') == (lacks == 'syslog'), '..says what is missing, once', done.stderr)


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
        stacks(strata)
        agent(strata)
        few_files(strata)
        listing(strata, dir)
    sys.exit(cases.done())


main()
