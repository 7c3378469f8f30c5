#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cold.py STRATA - memory that the traced program has not touched yet, such as a string constant, is not in its page
table: probes of uprobes wait for it, so that the first call prints its arguments, too."""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
from features import features
from tap import Cases

STRATA = sys.argv[1]
PROG = r'''
#include "usdt.h"
#ifdef __x86_64__
#define OPERAND "8@%0"
#else
#define OPERAND "8@%x0"
#endif
#define PAGES 16 /* the kernel maps the pages around one that is touched */
#define COLD(name) static const struct { char before[PAGES * 4096], text[8192], behind[PAGES * 4096]; } name = {{1}, "text of " #name}
COLD(uprobe); COLD(uretprobe); COLD(deref); COLD(usdt); COLD(edge); COLD(field);
struct point { const char *name; long x; };
__attribute__((noinline)) void of_uprobe(const char *s) { __asm__ volatile("" :: "r"(s) : "memory"); }
__attribute__((noinline)) const char *of_uretprobe(void) { __asm__ volatile(""); return uretprobe.text; }
__attribute__((noinline)) void of_deref(const char *s) { __asm__ volatile("" :: "r"(s) : "memory"); }
__attribute__((noinline)) void of_edge(const char *s) { __asm__ volatile("" :: "r"(s) : "memory"); }
__attribute__((noinline)) void of_field(struct point *p) { __asm__ volatile("" :: "r"(p) : "memory"); }
int main(void)
{
    struct point p = {field.text, 7};

    of_uprobe(uprobe.text);
    of_uretprobe();
    of_deref(deref.text);
    PROBE("cold", "usdt", "0", OPERAND, "r"(usdt.text));
    of_edge(edge.text);
    of_field(&p);
    return 0;
}
'''
CASES = {
    'uprobe': ('uprobe:{p}:of_uprobe {{ printf("%s\\n", str(arg0)); }}', 'text of uprobe'),
    'uretprobe': ('uretprobe:{p}:of_uretprobe {{ printf("%s\\n", str(retval)); }}', 'text of uretprobe'),
    'a value': ('uprobe:{p}:of_deref {{ printf("%c\\n", *(uint8 *)arg0); }}', 't'),
    'a buffer': ('uprobe:{p}:of_deref {{ printf("%r\\n", buf(arg0, 7)); }}', 'text of'),
    'a map key': ('uprobe:{p}:of_deref {{ @[str(arg0)] = count(); }}', '@[text of deref]: 1'),
    'a string of a struct': ('uprobe:{p}:of_field {{ printf("%s %d\\n", str(args.p->name), args.p->x); }}', 'text of field 7'),
    'with stacks': ('uprobe:{p}:of_edge {{ printf("%s %d %d\\n", str(arg0), len(ustack) > 1, len(kstack) >= 0); }}',
                    'text of edge 1 1'),
    'usdt': ('usdt:{p}:cold:usdt {{ printf("%s\\n", str(arg0)); }}', 'text of usdt'),
}


if os.geteuid():
    print('1..0 # SKIP needs root')
    sys.exit()
if 'uprobe_sleep' not in features(STRATA):
    print('1..0 # SKIP this kernel has no uprobe_sleep')
    sys.exit()
cases = Cases()
with tempfile.TemporaryDirectory() as dir:
    prog = f'{dir}/prog'
    lib = pathlib.Path(__file__).resolve().parents[1] / 'lib'
    subprocess.run(['cc', '-O1', '-g', '-w', '-I', lib, '-o', prog, '-xc', '-'], input=PROG, text=True, check=True)
    for name, (script, wanted) in CASES.items():
        done = subprocess.run([STRATA, '-q', '-e', script.format(p=prog), '-c', prog], capture_output=True, text=True)
        cases.check(wanted in done.stdout.split('\n'), name, done.stdout, done.stderr)
    script = CASES['uprobe'][0].format(p=prog)
    done = subprocess.run([STRATA, '--no-feature', 'uprobe_sleep', '-e', script, '-c', prog], capture_output=True, text=True)
    cases.check('text' not in done.stdout and '1 read of memory failed' in done.stderr, 'without sleeping it is reported',
                done.stdout, done.stderr)
sys.exit(cases.done())
