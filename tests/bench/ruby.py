# SPDX-License-Identifier: Apache-2.0
"""ruby.py - the cost of Ruby's frames: warm ones, and a cold sample. Each frame is a method of its own, with a class."""
import contextlib
import pathlib
import subprocess
import sys
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / 'tests' / 'unwind' / 'ruby')]
import cold
import rubies

DEPTH = 100
CALL = 'tracepoint:syscalls:sys_enter_getpgid'
CALLS = '''class Deep
  def busy
    Process.getpgid(0) while true
  end
'''
WORKS = '''class Deep
  def busy
    table = Array.new(100000) { |i| [i] }
    at = 1
    while true
      at = (at * 1103515245 + 12345) % 100000
      table[at][0] += 1
    end
  end
'''


def command(text, depth):
    methods = ''.join(f'  def f{i}\n    {f"f{i - 1}" if i else "busy"}\n  end\n' for i in range(depth))
    return [str(rubies.get('3.3')), '-e', f'{text}{methods}end\nDeep.new.f{depth - 1}\n']


@contextlib.contextmanager
def running(*words):
    with subprocess.Popen(words) as child:
        try:
            time.sleep(1)
            yield child.pid
        finally:
            child.kill()


def cold_command():
    return command(WORKS, cold.DEPTH + 10)


def frame_rows(row, strata, event_ns, kernel):
    with running(*command(CALLS, DEPTH)) as pid:
        tracer = strata + ['-p', str(pid), '-e']
        for stack, limit in (('rubystack', 2.5), ('ustack', 2.5)):
            frames = int(subprocess.run(tracer + [f'{CALL} {{ print(len({stack})); exit(); }}'], capture_output=True,
                                        text=True).stdout)
            ns = event_ns(tracer + [f'{CALL} {{ @ = max(len({stack})); }}'])
            row(f'Ruby frame, depth {DEPTH}, {stack}, of bpf_get_stack (fp)', ns / frames / kernel, limit,
                f'{ns / frames:.1f} ns of {frames}, {kernel:.1f} ns')


def rows(row, strata, event_ns, kernel):
    frame_rows(row, strata, event_ns, kernel)
    [(median, worst)] = cold.draws(cold_command(), lambda pids: cold.sample_ns(strata, pids))
    frame = median / (cold.DEPTH + 12)
    row(f'a cold sample of {cold.DEPTH + 12} Ruby frames, of 40 us', median / 40e3, 1.0,
        f'{median / 1e3:.1f} us, worst {worst / 1e3:.1f}; a frame is {frame / kernel:.1f} of bpf_get_stack')
