#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usdt.py STRATA PROGRAM - tests usdt probes with a program (usdt.c) that prints their arguments."""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import peer
import tap
import traced
import waits

STRATA, PROGRAM = map(os.path.realpath, sys.argv[1:])
if os.geteuid():
    print('1..0 # SKIP needs root')
    sys.exit()
cases = tap.Cases()

PRINTS = {
    'kinds': 'printf("kinds %d %lu %d %d %d %u %d %lu\\n", arg0, arg1, arg2, arg3, arg4, arg5, arg6, arg7)',
    'sums': 'printf("sums %d %d %d %d\\n", arg0, arg1, arg2, arg3)',
    'shop:place': 'printf("place %d %d\\n", arg0, arg1)',
    'asked': 'printf("asked 1 %d\\n", arg0)',
    'other:place': 'printf("text %s\\n", str(arg0))',
}


def all_of(path):
    return ' '.join(f'usdt:{path}:{name} {{ {text}; }}' for name, text in PRINTS.items())


def run(*options, script, program=PROGRAM):
    """Returns the lines of the program, the lines of strata, and strata's messages."""
    process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    tracer = subprocess.Popen([STRATA, '-p', str(process.pid), *options, '-e', script], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
    traced.attached(tracer)
    account, _ = process.communicate(b'\n')
    printed, said = tracer.communicate()
    return account.decode().splitlines(), printed.decode().splitlines(), said.decode()


def strata(*args):
    return subprocess.run([STRATA, *args], capture_output=True, text=True)


# -p does not set the semaphore of another process with the same file. Before Linux 6.10 it does.
# This is the first case, since a detached probe may be counted for a while.
version = tuple(int(n) for n in os.uname().release.split('-')[0].split('.')[:2])
other = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
process = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
tracer = subprocess.Popen([STRATA, '-p', str(process.pid), '-e', f'usdt:{PROGRAM}:asked {{ @ = count(); }}'],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
traced.attached(tracer)
account, _ = other.communicate(b'\n')
process.communicate(b'\n')
tracer.communicate()
cases.check((b'asked 1 1' in account) == (version < (6, 10)), 'the semaphore of another process', account)

# Each way to name a probe; the semaphore; without multi links.
for what, path, options in (('by path', PROGRAM, []), ('all that is mapped', '*', []), ('without a file', '', []),
                            ('one by one', PROGRAM, ['--no-feature', 'uprobe_multi'])):
    account, printed, said = run(*options, script=all_of(path))
    cases.check(len(account) == 21 and [line for line in printed if line] == account, f'arguments: {what}',
                f'passed:  {account}', f'printed: {printed}', said)

# As a command.
done = subprocess.run([STRATA, '-q', '-c', PROGRAM, '-e', f'usdt::kin* {{ print(probe); }}'], input='\n',
                      capture_output=True, text=True)
cases.check(done.stdout.splitlines().count(f'usdt:{PROGRAM}:shop:kinds') == 3, 'a command, without a file', done)

# Blocks on one probe run in the order of the script.
account, printed, said = run(script=f'usdt:{PROGRAM}:asked {{ print(1); }} usdt:{PROGRAM}:a* {{ print(2); }} '
                                    f'U:{PROGRAM}:shop:asked {{ print(3); }}')
cases.check([line for line in printed if line] == ['1', '2', '3'] * 3, 'in the order of the script', *printed, said)

# Lists.
names = [f'usdt:{PROGRAM}:{name}' for name in ('other:place', 'shop:asked', 'shop:kinds', 'shop:place', 'shop:sums')]
cases.check(strata('-l', f'usdt:{PROGRAM}:*').stdout.splitlines() == names, '-l of a file')
cases.check(strata('-l', f'usdt:{PROGRAM}').stdout.splitlines() == names, '-l without a name')
cases.check(strata('-l', f'U:{PROGRAM}:s*:*s').stdout.splitlines() == [names[2], names[4]], '-l with a provider')
cases.check(strata('-l', f'usdt:{PROGRAM[:-1]}*:*place').stdout.splitlines() == [names[0], names[3]],
            '-l with a pattern of files')
done = strata('-lv', f'usdt:{PROGRAM}:kinds')
cases.check(done.stdout.splitlines()[:4] == [names[2], '    int32 arg0', '    uint64 arg1', '    int16 arg2'],
            '-lv has arguments', done)
cases.check(done.stdout.splitlines()[9] == '    double arg8 (BPF programs have no floating-point numbers)',
            '-lv of a floating-point argument', done)
process = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
done = strata('-l', '-p', str(process.pid), 'usdt:*:place')
cases.check(done.stdout.splitlines() == [names[0], names[3]], '-l of a process', done)
done = strata('-l', 'usdt:*:shop:*')
cases.check(done.stdout.splitlines() == names[1:], '-l of all processes', done)
process.communicate(b'\n')


def other_mounts(process, path):
    done = strata('-l', '-p', str(process.pid), 'usdt:*:other:place')
    cases.check(done.stdout == f'usdt:/proc/{process.pid}/root{path}:other:place\n', 'all of another mount namespace',
                done)
    tracer = subprocess.Popen([STRATA, '-p', str(process.pid), '-e', f'usdt:{path}:asked {{ print(arg0); }}'],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    traced.attached(tracer)
    process.communicate(b'\n')
    printed, said = tracer.communicate()
    cases.check(printed.split() == [b'1', b'2', b'3'], 'by its path there', printed, said)


# A process with its own mounts: the file does not exist outside.
with tempfile.TemporaryDirectory() as dir:
    process = subprocess.Popen(['unshare', '-m', '--propagation', peer.propagation(), 'sh', '-c',
                                f'mount -t tmpfs none {dir} && cp {PROGRAM} {dir}/q && echo && exec {dir}/q'],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdout.read(1)
    link = f'/proc/{process.pid}/exe'
    waits.until(lambda: os.readlink(link).endswith('/q'), 'the copy to run')
    exe = os.readlink(link)
    if exe == f'{dir}/q':
        other_mounts(process, exe)
    else:
        cases.skip('another mount namespace', 'in a chroot its paths begin elsewhere')
        process.communicate(b'\n')

# Control characters in the names of a file do not reach the terminal.
with tempfile.TemporaryDirectory() as dir:
    odd = pathlib.Path(dir, 'odd')
    odd.write_bytes(pathlib.Path(PROGRAM).read_bytes().replace(b'shop\0kinds\0', b'\x1b[2J\0k\x07nds\0'))
    done = strata('-l', f'usdt:{odd}:*')
    cases.check(f'usdt:{odd}:\\x1b[2J:k\\x07nds' in done.stdout.splitlines(), 'control characters', done)

# Missing probes, files and arguments.
done = strata('-e', f'usdt:{PROGRAM}:kind {{ print(1); }}')
cases.check(done.returncode == 1 and 'has no USDT probe kind ' in done.stderr and 'did you mean kinds?' in done.stderr,
            'the nearest name', done)
done = strata('-e', f'usdt:{PROGRAM}:shopp:kinds {{ print(1); }}')
cases.check('did you mean shop:kinds?' in done.stderr, 'the nearest provider', done)
done = strata('-e', 'usdt::kinds { print(1); }')
cases.check(done.returncode == 1 and 'a process or command must be traced' in done.stderr, 'no file', done)
script = f'config = {{ missing_probes = "warn" }} usdt:{PROGRAM}:nothing, usdt:{PROGRAM}:asked {{ print(arg0); }}'
account, printed, said = run(script=script)
done = strata('--dry-run', '-e', script)
cases.check([line for line in printed if line] == ['1', '2', '3'] and 'has no USDT probe nothing' in done.stderr,
            'missing_probes', printed, done)
done = strata('--dry-run', '-e', f'usdt:{PROGRAM}:asked {{ print(arg1); }}')
cases.check('arg1 is always 0' in done.stderr and done.returncode == 0, 'an argument too many', done)
sys.exit(cases.done())
