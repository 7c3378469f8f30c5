#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gdb_compare.py - compares the walk with gdb's backtrace at random stops of real programs.

    gdb_compare.py WALK_SERVER STOPS -- COMMAND..

Starts the command under gdb repeatedly until STOPS stops were compared; gdb runs this same
file. A stop agrees when our frame at each index equals gdb's, up to the frame where gdb gives
up or code has no file (gdb guesses there). Prints stops that differ.
COMPARE_PAUSE: the most seconds between stops; COMPARE_STEPI=n: step n instructions instead.
"""
import os
import random
import signal
import subprocess
import sys
import threading
import time

REGS = ("rip", "rsp", "rbp", "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "r8", "r9", "r10",
        "r11", "r12", "r13", "r14", "r15")


def in_gdb():
    import gdb

    stops = int(os.environ["COMPARE_STOPS"])
    pause = float(os.environ.get("COMPARE_PAUSE", "0.01"))
    server = None
    good = bad = 0
    code = []

    def interrupt(pid):
        time.sleep(random.random() * pause)
        try:
            os.kill(pid, signal.SIGINT)
        except ProcessLookupError:
            pass

    def theirs():
        frame, found = gdb.newest_frame(), []
        while frame and len(found) < 4000:
            # Frames that gdb derives from debug information (inlined functions) are not on the stack.
            if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
                found.append((frame.pc(), frame.name(), gdb.solib_name(frame.pc())))
            try:
                frame = frame.older()
            except gdb.error:
                break
        return found

    def code_changed():
        nonlocal code
        with open(f"/proc/{gdb.selected_inferior().pid}/maps") as f:
            now = [line for line in f if line.split()[1][2] == "x"]
        changed, code = now != code, now
        return changed

    def ours():
        frame = gdb.newest_frame()
        regs = [str(int(frame.read_register(r)) & (2**64 - 1)) for r in REGS]
        if code_changed():
            print("maps", file=server.stdin)
        print(*regs, file=server.stdin, flush=True)
        words = server.stdout.readline().split()
        return int(words[0]), [w.split(":", 1) for w in words[1:]]

    def mapped_files():
        spans = []
        with open(f"/proc/{gdb.selected_inferior().pid}/maps") as f:
            for line in f:
                w = line.split()
                if len(w) > 5 and (w[5][0] == "/" or w[5] == "[vdso]"):
                    start, end = w[0].split("-")
                    spans.append((int(start, 16), int(end, 16)))
        return spans

    def compare():
        """Returns whether the stacks agree, and the difference."""
        want, (end, have) = theirs(), ours()
        files = mapped_files()
        for i, (pc, name, _) in enumerate(want):
            if not any(a <= pc < b for a, b in files):
                return True, ""
            if i >= len(have):
                if end == 0 and have:
                    return True, ""  # gdb continues below the first frame
                return False, f"ours ends ({end}) at {i}, gdb has {name} {pc:x}"
            at = int(have[i][0], 16)
            if at not in (pc, pc - 1):
                if "COMPARE_VERBOSE" in os.environ:
                    print([(hex(p), n) for p, n, _ in want], have)
                return False, f"frame {i}: ours {at:x} {have[i][1]}, gdb's {pc:x} {name}"
        return True, ""

    gdb.execute("set pagination off")
    gdb.execute("set confirm off")
    gdb.execute("set backtrace past-main on")
    gdb.execute("set backtrace past-entry on")
    gdb.execute("set debuginfod enabled off")
    gdb.execute("handle SIGINT stop print nopass")
    gdb.execute("handle SIGUSR1 SIGCHLD SIGPIPE nostop noprint pass")
    gdb.execute("starti > /dev/null 2>&1", to_string=True)
    while good + bad < stops:
        pid = gdb.selected_inferior().pid
        if not pid:
            break
        if not server:
            server = subprocess.Popen([os.environ["COMPARE_SERVER"], str(pid)], text=True,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if "COMPARE_STEPI" in os.environ:
            gdb.execute("stepi " + os.environ["COMPARE_STEPI"], to_string=True)
        else:
            t = threading.Thread(target=interrupt, args=(pid,))
            t.start()
            gdb.execute("continue", to_string=True)
            t.join()
        if not gdb.selected_inferior().pid:
            break
        agree, why = compare()
        good += agree
        bad += not agree
        if not agree:
            print(f"DIFFER {why}", flush=True)
    print(f"COMPARED {good} {bad}", flush=True)
    gdb.execute("kill" if gdb.selected_inferior().pid else "info program", to_string=True)
    os._exit(0)


def main():
    server, stops, command = sys.argv[1], int(sys.argv[2]), sys.argv[4:]
    good = bad = 0
    differ = []
    while good + bad < stops:
        env = dict(os.environ, COMPARE_SERVER=server, COMPARE_STOPS=str(stops - good - bad))
        out = subprocess.run(["gdb", "-q", "-nx", "-batch", "-x", os.path.abspath(__file__),
                              "--args", *command], env=env, text=True, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        done = [line.split()[1:] for line in out.splitlines() if line.startswith("COMPARED")]
        differ += [line[7:] for line in out.splitlines() if line.startswith("DIFFER")]
        if not done or done[0] == ["0", "0"]:
            print(out)
            sys.exit("gdb compared nothing")
        good += int(done[0][0])
        bad += int(done[0][1])
    for line in differ[:10]:
        print("   ", line)
    print(f"{command[0]}: {good} of {good + bad} stops agree ({100 * good / (good + bad):.2f} %)")
    sys.exit(bad * 100 > good + bad)


try:
    import gdb  # noqa: F401
except ImportError:
    main()
else:
    in_gdb()
