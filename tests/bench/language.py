# SPDX-License-Identifier: Apache-2.0
"""language.py - the cost of a script next to bpftrace: an event with the usual maps, a printed line, and the start of
bpftrace's own tools."""
import contextlib
import pathlib
import re
import signal
import statistics
import subprocess
import tempfile
import time

PLACE = 'tracepoint:syscalls:sys_enter_getuid '
EVENTS = [('count()', '{ @ = count(); }'), ('@[comm, pid]', '{ @[comm, pid] = count(); }'),
          ('hist()', '{ @ = hist(nsecs); }'), ('a filter by pid', '/pid == 1/ { @ = count(); }')]
CONFIG = 'config = { max_map_keys = 4096 } '
TEXTS = 'tracepoint:syscalls:sys_enter_faccessat '
UPDATES = ['@[comm] = count()', '@[comm, pid] = count()', '@[pid] = count()', '@[tid] = sum(args.__syscall_nr)',
           '@ = max(nsecs)', '@[pid] = max(nsecs)', '@ = min(nsecs)', '@[pid] = min(nsecs)', '@ = avg(nsecs)',
           '@[pid] = avg(nsecs)', '@ = stats(nsecs)', '@[pid] = stats(nsecs)', '@ = hist(nsecs)', '@[pid] = hist(nsecs)',
           '@ = lhist(pid, 0, 100000, 1000)', '@[pid] = lhist(pid, 0, 100000, 1000)', '@[pid] = nsecs', '@[pid]++',
           '@[pid] = 1; delete(@, pid)', '@[pid] = 1; if (pid == 1) { delete(@, pid) }']
READS = ['delete(@, pid)', '$x = @[pid]; if ($x) { exit() }']  # of a map without that key
PRINTS = '{ printf("%s %d\\n", comm, pid); }'


@contextlib.contextmanager
def busy(calls, *args):
    child = subprocess.Popen([calls, *args], stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        child.kill()
        child.wait()


def event_rows(row, event_ns, strata, bpftrace, calls):
    """The best of five on each side, since a disturbance only adds time."""
    with busy(calls, '1000000', '0', '600'):
        for what, script in EVENTS:
            seen = [[event_ns(tracer + ['-e', PLACE + script], 1) for tracer in (strata, bpftrace)] for _ in range(5)]
            ours, theirs = (min(column) for column in zip(*seen))
            row(f'an event of {what}', ours / theirs, 1.0, f'{ours:.0f} ns, {theirs:.0f} ns')


def compare(event_ns, strata, bpftrace, script, pairs=9):
    """Returns (median of the ratios, a text with their range and the medians of both sides)."""
    seen = [[event_ns(tracer + ['-e', CONFIG + script], 0.5) for tracer in (strata, bpftrace)] for _ in range(pairs)]
    ratios = [ours / theirs for ours, theirs in seen]
    ours, theirs = (statistics.median(column) for column in zip(*seen))
    return statistics.median(ratios), f'{min(ratios):.2f} to {max(ratios):.2f}; {ours:.0f} ns, {theirs:.0f} ns'


def update_rows(row, event_ns, strata, bpftrace, calls):
    """An event that updates or reads a map. Maps have the same size on both sides, so hashes cost the same."""
    def one(what, script):
        ratio, detail = compare(event_ns, strata, bpftrace, script)
        row(what, ratio, 1.0, detail)

    with busy(calls, '1000000', '0', '3600'):
        for update in UPDATES:
            one(update, PLACE + '{ ' + update + '; }')
        for read in READS:
            one(read, 'begin { @[0] = 1; } ' + PLACE + '{ ' + read + '; }')
    with busy(calls, '1000000', '0', '3600', '/usr/share/dict/words'):
        one('@[str(p)] = count()', TEXTS + '{ @[str(args.filename)] = count(); }')


def printed(tracer, calls):
    """Returns (ns that a printf() adds to a call, share of the lines that arrived)."""
    with tempfile.NamedTemporaryFile() as out:
        child = subprocess.Popen(tracer + ['-e', PLACE + PRINTS], stdout=out, stderr=subprocess.DEVNULL)
        time.sleep(1.5)
        ns = float(subprocess.run([calls, '100', '1000', '2'], capture_output=True, text=True).stdout)
        child.send_signal(signal.SIGINT)
        child.wait()
        lines = pathlib.Path(out.name).read_text().count('calls ')
    return ns, lines


def print_row(row, strata, bpftrace, calls):
    """Uses bursts that neither side loses, so that both deliver the same."""
    alone = min(float(subprocess.run([calls, '100', '1000', '1'], capture_output=True, text=True).stdout)
                for _ in range(3))
    seen = [[printed(tracer, calls) for tracer in (strata, bpftrace)] for _ in range(5)]
    ours, theirs = (min(x[0] for x in column) - alone for column in zip(*seen))
    lines = [statistics.median(x[1] for x in column) for column in zip(*seen)]
    row('printf() in a call, what it adds', ours / theirs, 1.0,
        f'{ours:.0f} ns of {lines[0]:.0f} lines, {theirs:.0f} ns of {lines[1]:.0f}')


def until_attached(command):
    """Returns the seconds until the tracer reports that it has attached, or None."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    seconds = None
    for line in child.stderr:
        if re.match(r'Attach(ed|ing)', line):
            seconds = time.perf_counter() - start
            break
    child.kill()
    child.wait()
    child.stderr.close()
    return seconds


def tool_rows(row, strata, bpftrace, tree):
    """Each tool that both sides can attach here, best of three."""
    ratios = {}
    for tool in sorted(tree.glob('*.bt')):
        inside = f'/usr/sbin/{tool.name}'
        seen = [[until_attached(strata + [str(tool)]), until_attached(bpftrace + [inside])] for _ in range(3)]
        if all(x is not None for pair in seen for x in pair):
            ours, theirs = (min(column) for column in zip(*seen))
            ratios[tool.name] = ours / theirs
    if not ratios:
        return
    worst = max(ratios, key=ratios.get)
    row(f"start of bpftrace's tools, the slowest of {len(ratios)}", ratios[worst], 0.25,
        f'{worst}; median {statistics.median(ratios.values()):.2f}')
