#!/usr/bin/env python3
# run.py - compares walks with Python's own account, frame by frame: name, file, line.
#
#     run.py WALK [PYTHON...]        by tests/unwind/walk, on a stopped process
#     run.py --strata STRATA [PYTHON...]   by strata itself (root)
#
# Without a PYTHON, it runs all that are installed.
import glob
import json
import os
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
import waits  # noqa: E402
from traced import attached  # noqa: E402

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "program.py")
LIMIT = 16384


def pythons():
    found = {}
    home = os.path.expanduser("~/.pyenv/versions/3.*/bin/python3")
    for path in sorted(glob.glob("/usr/bin/python3*") + glob.glob(home)):
        real = os.path.realpath(path)
        with open(real, "rb") as f:
            if f.read(4) == b"\x7fELF" and "config" not in real:
                found[real] = path
    return sorted(found)


def version(python):
    out = subprocess.check_output([python, "-c", "import sys; print(*sys.version_info[:2])"])
    return tuple(map(int, out.split()))


def start(python, *args):
    return subprocess.Popen([python, PROGRAM, *args], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, bufsize=0)


class Lines:
    """Lines of an unbuffered pipe."""
    def __init__(self, f):
        self.f, self.rest = f, b""

    def next(self):
        while b"\n" not in self.rest:
            data = self.f.read(1 << 16)
            if not data:
                return None
            self.rest += data
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode("utf-8", "surrogateescape")


def parse_frame(line):
    name, place = line.split(" ", 1)
    path, lineno = place.rsplit(":", 1)
    return [name, path, int(lineno)]


def parse_walk(text):
    """Returns {thread ID: (Python's frames, end)}."""
    threads = {}
    for line in text.splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "thread":
            frames = []
        elif kind == "py":
            frames.append(parse_frame(rest))
        elif kind == "end":
            threads[len(threads)] = (frames, rest)
    return threads


def show(case, got, want):
    print("FAILED %s: %d frames, expected %d" % (case, len(got), len(want)))
    for i in range(max(len(got), len(want))):
        a = got[i] if i < len(got) else None
        b = want[i] if i < len(want) else None
        if a != b:
            print("   #%d got %.200s\n   %s expected %.200s" % (i, a, " " * len(str(i)), b))
            break


def same(case, got, want):
    """Compares two stacks. `want` begins with the caller of stop(), `got` with stop() itself, whose line at
    the call Python could not print beforehand."""
    if got and got[0][0] == "stop" and got[1:] == want:
        return True
    show(case, got, want)
    return False


def check_threads(walked, want):
    """Each thread's innermost frame is the lambda that waits; deepest() is two lines beyond
    the line that it printed."""
    ok = True
    for frames in want:
        frames[0][2] += 2
        got = [f for f, _ in walked.values() if f and f[1:] == frames and "lambda" in f[0][0]]
        if len(got) != 1:
            show("threads", max((f for f, _ in walked.values()), key=len), frames)
            ok = False
    return ok


def walk(tool, pid, *args):
    out = subprocess.run([tool, *args, "-l", str(LIMIT), str(pid)], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=True).stdout
    return parse_walk(out.decode("utf-8", "surrogateescape"))


def run_walk(tool, python):
    p = start(python)
    lines, failed, n = Lines(p.stdout), 0, 0
    while True:
        record = json.loads(lines.next() or '{"case": "done"}')
        if record["case"] == "done":
            break
        waits.asleep(p.pid)  # the program prints its record before it calls read()
        for args in (["-p"], []):
            walked = walk(tool, p.pid, *args)
            case = record["case"] + (" -p" if args else "")
            n += 1
            want = json.loads(json.dumps(record["frames"]))
            if record["case"] == "threads":
                failed += not check_threads(walked, want)
            elif record["case"] == "thread":
                failed += not any(f and f[1:] == want for f, _ in walked.values())
            else:
                failed += not same(case, walked[0][0], want)
            if any(end for _, end in walked.values()):
                print("FAILED %s: a walk ended with %s" % (case, [e for _, e in walked.values()]))
                failed += 1
        p.stdin.write(b"\n")
    failed += p.wait() != 0
    return n, failed


# ---- by strata ----

SCRIPT = """
config = { max_strlen = 64 }
uprobe:libc:getppid /pid == %d/ { printf("%%s\\nend\\n", %s(%d)); }
"""


def read_stacks(lines, n):
    """Returns the n printed stacks, each a list of frames."""
    stacks = []
    frames = []
    while len(stacks) < n:
        line = lines.next()
        if line is None:
            break
        line = line.strip()
        if line == "end":
            stacks.append(frames)
            frames = []
        elif line.startswith("["):
            pass  # a mark of how the stack ended
        elif line:
            frames.append(line)
    return stacks


def python_frames(frames):
    """Returns the frames with file:line; native frames are sym+off or hex."""
    out = []
    for line in frames:
        try:
            out.append(parse_frame(line))
        except ValueError:
            pass
    return out


def run_strata(strata, python):
    failed = n = 0
    for builtin in ("pystack", "ustack"):
        p = start(python, "getppid")
        out = tempfile.TemporaryFile(buffering=0) # a pipe that nobody reads would be full
        s = subprocess.Popen([strata, "-p", str(p.pid), "-e", SCRIPT % (p.pid, builtin, LIMIT)],
                             stdout=out, stderr=subprocess.PIPE, bufsize=0)
        attached(s)
        p.stdin.write(b"\n")
        lines, records = Lines(p.stdout), []
        while True:
            line = lines.next()
            if line is None or json.loads(line)["case"] == "done":
                break
            records.append(json.loads(line))
        p.wait()
        waits.idle(s.pid)
        s.send_signal(2)
        s.wait()
        out.seek(0)
        stacks = read_stacks(Lines(out), len(records))
        for record, stack in zip(records, stacks):
            n += 1
            failed += not same(record["case"] + " " + builtin, python_frames(stack),
                               record["frames"])
        if len(stacks) != len(records):
            print("FAILED: %d stacks of %d" % (len(stacks), len(records)))
            failed += 1
    return n, failed


def main(argv):
    run, argv = (run_strata, argv[1:]) if argv[0] == "--strata" else (run_walk, argv)
    if run is run_strata and os.geteuid() != 0:
        print("needs root")
        return 77  # skipped
    total = tested = 0
    for python in argv[1:] or pythons():
        if version(python) < (3, 7):
            continue  # strata finds 3.6's frames only while the thread holds the GIL
        n, failed = run(argv[0], python)
        print("%s: %d stacks, %d failed" % (python, n, failed), flush=True)
        total += failed
        tested += n
    return bool(total) or not tested


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
