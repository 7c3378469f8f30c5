#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stop.py STRATA - how a script ends: by signals under a flood of events, with output that
has no reader or cannot be written, and with a command that does not end."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import tap
import waits

STRATA = sys.argv[1]
SOON = 1.0  # seconds; the promise is 0.5
FLOOD = 'tracepoint:syscalls:sys_enter_read /comm == "dd"/ { @ = count(); printf("%s!\\n", comm); }'
cases = tap.Cases()


def start(script, *options, stdout=subprocess.PIPE):
    """Starts strata, and waits until its probes are attached."""
    tracer = subprocess.Popen([STRATA, *options, '-e', script], stdout=stdout, stderr=subprocess.PIPE)
    said = b''
    while b'Attached' not in said:  # warnings about other processes may come before
        line = tracer.stderr.readline()
        if not line:
            sys.exit(f'strata said: {said.decode()}')
        said += line
    return tracer


def waited(pid):
    """Returns the seconds in which a process was ready to run but had no CPU; also of a process that has ended, until it is
    reaped."""
    try:
        return int(open(f'/proc/{pid}/schedstat').read().split()[1]) / 1e9
    except (FileNotFoundError, IndexError):
        return 0


def end(tracer, signals=(signal.SIGINT,)):
    """Returns the seconds until its end, without those in which others had the CPU, or None."""
    begin, before = time.monotonic(), waited(tracer.pid)
    for which in signals:
        tracer.send_signal(which)
    if not waits.comes(lambda: os.waitid(os.P_PID, tracer.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG), 30):
        tracer.kill()
        tracer.wait()
        return None
    took = time.monotonic() - begin - (waited(tracer.pid) - before)
    tracer.wait()
    return took


def stop(tracer, signals=(signal.SIGINT,)):
    """Returns (seconds until its end, or None; the exit status; its messages)."""
    took = end(tracer, signals)
    return took, tracer.returncode, tracer.stderr.read().decode()


def run(*args, **more):
    return subprocess.run([STRATA, *args], stderr=subprocess.PIPE, text=True, timeout=60, **more)


def is_alive(pid):
    try:
        return open(f'/proc/{pid}/stat').read().rpartition(')')[2].split()[0] not in 'ZX'
    except FileNotFoundError:
        return False


def numbers(pattern, text):
    return sum(map(int, re.findall(pattern, text, re.M)))


def accounted(name, out, said):
    """Each event that was counted was printed or is reported as lost."""
    printed, lost = out.count('dd!\n'), numbers(r'(?:Lost |warning: )(\d+) (?:events:|record)', said)
    counted = numbers(r'^@: (\d+)$', '\n'.join(out.splitlines()[-5:])) if '@: ' in out else None
    cases.check(counted and printed + lost == counted, f'{name}: each counted event is accounted for',
                f'{printed} printed, {lost} lost, {counted} counted', said)


def own_events():
    tracer = start('uprobe:libc:malloc { printf("%s %d\\n", comm, pid); }')
    subprocess.run([sys.executable, '-c', 'pass'], check=True)
    mine = [tracer.stdout.readline().decode().strip() for _ in range(100)]
    took, code, said = stop(tracer)
    mine += tracer.stdout.read().decode().split('\n')
    cases.check(took is not None and took < SOON, 'a probe on functions that strata calls: ends soon', took, said)
    cases.check(f'strata {tracer.pid}' not in mine, 'strata does not trace itself', mine[:5])


def own_switches():
    """Each switch to strata is followed by a switch from it, except for the last on each CPU. A virtual machine may hide the
    process that controls it from tracers: its events are in neither number."""
    for probe, prev, next in (('tracepoint:sched:sched_switch', 'args.prev_pid', 'args.next_pid'),
                              ('rawtracepoint:sched_switch', 'args.prev.pid', 'args.next.pid')):
        tracer = start(f'{probe} {{ @out[{prev}] = count(); @in[{next}] = count(); printf(".\\n"); }}')
        waits.until(lambda: sum(waits.status(tracer.pid, f'{kind}_ctxt_switches') for kind in ('voluntary', 'nonvoluntary')) > 200,
                    'strata to be switched to 200 times')
        stop(tracer)
        out = tracer.stdout.read().decode()
        there, back = (numbers(rf'^@{name}\[{tracer.pid}\]: (\d+)$', out) for name in ('in', 'out'))
        cases.check(there > 3 and abs(there - back) <= 0.1 * there, f'{probe}: to strata {there} times and from it {back}', out[-500:])


def own_interrupts(dir):
    """Next to a flood strata is on a CPU most of the time, also when timers expire."""
    for probe in 'tracepoint:timer:hrtimer_expire_entry', 'rawtracepoint:hrtimer_expire_entry':
        with open(dir / 'out', 'w+b') as out:
            tracer = start(f'{FLOOD} {probe} {{ @expired[pid] = count(); }}', stdout=out)
            waits.until(lambda: waits.cpu_time(tracer.pid) > 0.5, 'strata to work for half a second')
            stop(tracer)
            out.seek(0)
            mine = numbers(rf'^@expired\[{tracer.pid}\]: (\d+)$', out.read().decode())
        cases.check(mine, f'{probe}: {mine} while strata ran', mine)


def flood_to_file(dir):
    for signals in [signal.SIGINT], [signal.SIGTERM], [signal.SIGINT, signal.SIGINT]:
        with open(dir / 'out', 'w+b') as out:
            tracer = start(FLOOD, stdout=out)
            waits.until(lambda: os.fstat(out.fileno()).st_size > 200000, '50,000 lines')
            took, code, said = stop(tracer, signals)
            out.seek(0)
            text = out.read().decode()
        name = 'flood, ' + ' '.join(s.name for s in signals)
        cases.check(took is not None and took < SOON and code == 0, f'{name}: ends soon', took, code, said)
        accounted(name, text, said)


def filled(pipe):
    """Waits until a pipe takes no more."""
    waits.until(lambda: waits.full(pipe), 'a pipe to be full')


def stuck(pipe):
    """Waits until a pipe that nobody reads is so full that strata writes no more."""
    def is_stuck():
        before = waits.level(pipe)
        return waits.stays(lambda: waits.level(pipe) == before, 0.5)

    filled(pipe)
    waits.until(is_stuck, 'strata to write no more')


def flood_unread():
    tracer = start(FLOOD)
    stuck(tracer.stdout)
    took, code, said = stop(tracer)
    cases.check(took is not None and took < SOON, 'flood into a pipe that nobody reads: ends soon', took, said)
    cases.check(code == 1 and re.search(r'\d+ records of the script were not', said),
                'and the number of lost records is reported', code, said)


def flood_unread_both():
    """Standard error goes to the same pipe."""
    pipe = os.pipe()
    tracer = subprocess.Popen([STRATA, '-e', FLOOD], stdout=pipe[1], stderr=pipe[1])
    os.close(pipe[1])
    stuck(pipe[0])
    took = end(tracer)
    cases.check(took is not None and took < SOON, 'nor standard error: ends soon', took)
    os.close(pipe[0])


def flood_slow():
    tracer = start(FLOOD, stdout=(pipe := os.pipe())[1])
    os.close(pipe[1])
    slow = subprocess.Popen([sys.executable, '-c', 'import os, sys, time\n'
                             'while text := os.read(0, 4096):\n'
                             '    sys.stdout.buffer.write(text)\n'
                             '    time.sleep(0.01)'], stdin=pipe[0], stdout=subprocess.PIPE)
    text = []
    reader = threading.Thread(target=lambda: text.append(slow.stdout.read().decode()))
    reader.start()
    filled(pipe[0])
    os.close(pipe[0])
    took, code, said = stop(tracer)
    reader.join()
    cases.check(took is not None and took < SOON, 'flood into a slow pipe: ends soon', took, said)
    accounted('flood into a slow pipe', text[0], said)


def flood_maps():
    """Prints a map with many elements for each event."""
    tracer = start('tracepoint:syscalls:sys_enter_read /comm == "dd"/ { @[rand % 4000] = count(); print(@); }',
                   stdout=subprocess.DEVNULL)
    waits.until(lambda: waits.cpu_time(tracer.pid) > 0.5, 'strata to work for half a second')
    took, code, said = stop(tracer)
    cases.check(took is not None and took < SOON and 'records of the script' in said, 'a flood of maps: ends soon',
                took, said)


def flood_exit():
    begin = time.monotonic()
    done = run('-e', FLOOD + ' interval:ms:300 { exit(3); }', stdout=subprocess.DEVNULL)
    cases.check(done.returncode == 3 and time.monotonic() - begin < 3, 'exit() ends a flood', done)


def many_probes():
    tracer = start('tracepoint:syscalls:* { @ = count(); }')
    took, code, said = stop(tracer)
    cases.check(took is not None and took < SOON and code == 0, 'hundreds of tracepoints: ends soon', took, said)
    cases.check(b'@: ' in tracer.stdout.read(), 'and the map is printed')


STUBBORN = 'sh -c "trap : TERM INT; echo \\$\\$; while :; do sleep 0.1; done"'


def stubborn():
    tracer = start('interval:s:100 { }', '-c', STUBBORN)
    pid = int(tracer.stdout.readline())
    took, code, said = stop(tracer)
    cases.check(took is not None and took < 3 and 'killing it' in said, 'a command that ignores SIGTERM is killed',
                took, said)
    cases.check(not is_alive(pid), 'it is gone')


def stubborn_twice():
    tracer = start('interval:s:100 { }', '-c', STUBBORN)
    pid = int(tracer.stdout.readline())
    tracer.send_signal(signal.SIGINT)
    waits.taken(tracer.pid)
    time.sleep(0.15)  # within 100 ms it counts as the same signal, which timeout(1) sends twice
    took, code, said = stop(tracer)
    cases.check(took is not None and took < 0.5 and code == -signal.SIGINT, 'a second signal ends at once', took, code)
    cases.check(waits.comes(lambda: not is_alive(pid)), 'the command ends, too')


def command_status():
    done = run('-e', 'interval:s:100 { }', '-c', 'sh -c "exit 3"', stdout=subprocess.DEVNULL)
    cases.check(done.returncode == 0 and 'sh ended with status 3' in done.stderr, "the command's status is said", done)


def full_disk(dir):
    with open('/dev/full', 'w') as full:
        done = run('-e', 'interval:ms:10 { printf("x\\n"); }', stdout=full)
    cases.check(done.returncode == 1 and done.stderr.count('error:') == 1 and 'no space' in done.stderr and
                'record' in done.stderr, 'stdout is full', done)
    done = run('-o', '/dev/full', '-e', 'begin { @ = 1; }')
    cases.check(done.returncode == 1 and '/dev/full: no space' in done.stderr, '-o is full', done)
    for name, args in ('-l', ['-l', 'rawtracepoint:*']), ('-d', ['-d', 'ast', '-e', 'begin { }']), ('--info', ['--info']), \
            ('--unwind', ['--unwind', str(os.getpid())]), ('--help', ['--help']), ('--version', ['--version']):
        with open('/dev/full', 'w') as full:
            done = run(*args, stdout=full)
        cases.check(done.returncode == 1 and 'cannot write' in done.stderr, f'{name}: stdout is full', done)


def closed_pipe():
    for args in (['-e', 'interval:ms:10 { printf("x\\n"); }'], ['-e', 'begin { printf("x\\n"); } interval:s:100 { printf("x\\n"); }'],
                 ['-l', '*']):
        pipe = os.pipe()
        tracer = subprocess.Popen([STRATA, '-q', *args], stdout=pipe[1], stderr=subprocess.PIPE)
        os.close(pipe[1])
        waits.until(lambda: waits.level(pipe[0]), 'the first output')
        os.close(pipe[0])
        try:
            _, said = tracer.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            tracer.kill()
            said = b'(killed)'
        cases.check(tracer.returncode in (128 + signal.SIGPIPE, -signal.SIGPIPE) and not said,
                    f'{args[1]}: the reader has gone', tracer.returncode, said.decode())


def nothing_to_wait_for():
    sleep = subprocess.Popen(['sleep', '100'])
    for options in [], ['-p', str(sleep.pid)], ['-c', 'sleep 0.1']:
        done = run(*options, '-e', 'begin { printf("b\\n"); } end { printf("e\\n"); }', stdout=subprocess.PIPE)
        cases.check(done.returncode == 0 and done.stdout.split() == ['b', 'e'],
                    f'begin and end alone {" ".join(options[:1])}: ends by itself', done)
    sleep.kill()
    sleep.wait()
    for mode in 'warn', 'ignore':
        done = run('-e', f'config = {{ missing_probes = "{mode}" }} uprobe:libc:no_such {{ @++; }}',
                   stdout=subprocess.PIPE)
        cases.check(done.returncode == 1 and 'no probes to attach' in done.stderr,
                    f'missing_probes = {mode}: nothing is left', done)


def order():
    sites = {
        'uprobe': ['uprobe:libc:getppid'] * 3,
        'uprobe, wildcard': ['uprobe:libc:getppid', 'uprobe:libc:getpp*', 'uprobe:libc:getppid'],
        'uretprobe': ['uretprobe:libc:getppid'] * 3,
        'tracepoint': ['tracepoint:syscalls:sys_enter_getppid'] * 3,
        'rawtracepoint': ['rawtracepoint:sched_process_exit'] * 3,
        'mixed': ['uprobe:libc:getppid', 'tracepoint:syscalls:sys_enter_getppid', 'uretprobe:libc:getppid'],
    }
    command = f"'{sys.executable}' -c 'import os; os.getppid()'"
    for name, probes in sites.items():
        script = ' '.join(f'{probe} {{ printf("{i}"); }}' for i, probe in enumerate(probes))
        done = run('-q', '-c', command, '-e', script, stdout=subprocess.PIPE)
        text = done.stdout.strip()
        cases.check(text and not text.replace('012', ''), f'{name}: blocks run in the order of the script', done)


def survived():
    """Signals that end a script without its maps, or not at all."""
    for names in ('USR1', 'USR2', 'XFSZ'), ('XCPU',), ('IO',), ('PROF',):
        tracer = start('interval:ms:10 { @a = count(); printf("counted\\n"); }')
        tracer.stdout.readline()
        for name in names:
            tracer.send_signal(getattr(signal, 'SIG' + name))
            if len(names) > 1:
                waits.taken(tracer.pid)
        if len(names) > 1:
            cases.check(tracer.poll() is None, f'{" ".join(names)}: strata runs on')
            tracer.send_signal(signal.SIGINT)
        out, said = tracer.communicate(timeout=10)
        cases.check(tracer.returncode == 0 and b'@a: ' in out, f'{" ".join(names)}: the maps are printed', tracer.returncode, out, said)


def small_files(dir):
    """ulimit -f: an output that is too large is an error, not a death by SIGXFSZ."""
    script = 'interval:ms:1 { unroll (50) { printf("%1000d\\n", @n); } if (@n++ == 200) { exit(); } }'
    done = subprocess.run(['bash', '-c', 'ulimit -f 2048; exec "$@"', 'bash', STRATA, '-o', dir / 'small', '-e', script],
                          capture_output=True, text=True, timeout=60)
    cases.check(done.returncode == 1 and 'cannot write to' in done.stderr and 'ulimit -f' in done.stderr,
                'ulimit -f: an output that is too large is an error', done)


def main():
    with tempfile.TemporaryDirectory() as name:
        dir = pathlib.Path(name)
        own_events()
        own_switches()
        flood = subprocess.Popen(['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1'], stderr=subprocess.DEVNULL)
        try:
            own_interrupts(dir)
            flood_to_file(dir)
            flood_unread()
            flood_unread_both()
            flood_slow()
            flood_exit()
            flood_maps()
        finally:
            flood.kill()
            flood.wait()
        full_disk(dir)
        small_files(dir)
    survived()
    many_probes()
    stubborn()
    stubborn_twice()
    command_status()
    closed_pipe()
    nothing_to_wait_for()
    order()
    sys.exit(cases.done())


main()
