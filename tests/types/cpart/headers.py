#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""headers.py ASK STRATA - finds headers of the C part, and reports missing ones."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lib'))
import peer  # noqa: E402
from tap import Cases  # noqa: E402

ASK, STRATA = map(os.path.abspath, sys.argv[1:])
HAS_BTF = os.path.exists('/sys/kernel/btf/vmlinux')
HEADERS = {
    'beside.h': 'struct beside { int x; };\n',
    'own/own.h': 'struct own { long x; };\n#define OWN 3\n',
    'own/bad.h': '\nstruct bad { nothing x; };\n',
    # Headers of a kernel: those of its source, and those that its build makes.
    'source/include/linux/kconfig.h': '#include <generated/autoconf.h>\n',
    'source/include/linux/fake.h': '#include <asm/fake.h>\nstruct fake { struct of_arch a; char c[CONFIG_FAKE]; };\n',
    'source/arch/x86/include/asm/fake.h': 'struct of_arch { short s; };\n',
    'source/arch/arm64/include/asm/fake.h': 'struct of_arch { short s; };\n',
    'build/include/generated/autoconf.h': '#define CONFIG_FAKE 6\n',
}


def run(folder, command, script, name='case.bt', **env):
    pathlib.Path(folder, name).write_text(script)
    return subprocess.run([*command, name], cwd=folder, env={**os.environ, **env}, text=True,
                          capture_output=True, stdin=subprocess.DEVNULL, timeout=60)


def found(cases, folder):
    for what, args, env, script, want in (
            ('beside the script', [], {}, '#include "beside.h"\n// ask struct beside', r'struct beside, 4 bytes'),
            ('in the current directory', [], {}, '#include "beside.h"\n// ask struct beside', r'struct beside, 4 bytes'),
            ('-I', ['-I', 'own'], {}, '#include <own.h>\n// ask struct own', r'struct own, 8 bytes'),
            ('CPATH', [], {'CPATH': 'own'}, '#include <own.h>\n// ask struct own', r'struct own, 8 bytes'),
            ('C_INCLUDE_PATH', [], {'C_INCLUDE_PATH': 'own'}, '#include <own.h>\n// ask struct own',
             r'struct own, 8 bytes'),
            ("C's own", [], {}, '#include <stddef.h>\n#include <stdint.h>\n#include <stdbool.h>\n#include <limits.h>\n'
             'struct s { size_t n; uint16_t u; bool b; char c[CHAR_BIT]; };\n// ask struct s', r'struct s, 24 bytes'),
            ("the kernel's", [], {'BPFTRACE_KERNEL_SOURCE': f'{folder}/source',
                                  'BPFTRACE_KERNEL_BUILD': f'{folder}/build'},
             '#include <linux/fake.h>\n// ask struct fake', r'struct fake, 8 bytes')):
        name = 'own/case.bt' if 'current' in what else 'case.bt'
        done = run(folder, [ASK, *args], script + '\n', name, **env)
        cases.check(re.search(want, done.stdout), f'headers are found: {what}', done.stdout, done.stderr)


def options(cases, folder):
    done = run(folder, [STRATA, '-q', '--dry-run', '-I', 'own', '--include', 'own.h'], 'begin { print(OWN); }\n')
    cases.check(done.returncode == 0, '--include and -I', done.stderr)
    done = run(folder, [STRATA, '--dry-run', '--include', 'none.h'], 'begin { exit() }\n')
    cases.check(done.returncode == 1 and "--include: 'none.h' file not found [c]" in done.stderr,
                '--include of no file', done.stderr)
    done = run(folder, [STRATA, '--dry-run', '-I', 'own'], '#define X 1\n\n  #include "bad.h"\nbegin { exit() }\n')
    cases.check(done.returncode == 1 and re.match(
        r"case.bt:3:1: error: .*/bad.h:2: unknown type name 'nothing' \[c\]\n +#include \"bad.h\"\n", done.stderr),
                'an error in a header is shown where it is included', done.stderr)


def passed_over(cases, folder):
    """Well-known constants of missing headers."""
    env = {'BPFTRACE_KERNEL_SOURCE': '/nonexistent', 'BPFTRACE_KERNEL_BUILD': '/nonexistent'}
    head = '#include <net/none.h>\n#define OTHER AF_INET6\n'
    done = run(folder, [STRATA, '-q'], head + 'begin { print((AF_INET, OTHER, TASK_INTERRUPTIBLE, ENOENT, SIGKILL, '
               'O_CREAT, S_IFREG, DT_FIFO)); exit() }\n', **env)
    cases.check(not HAS_BTF or done.stdout.startswith('(2, 10, 1, 2, 9, 64, 32768, 1)\n'),
                'constants of headers that are passed over', done.stdout, done.stderr)
    done = run(folder, [STRATA, '--dry-run'], head + 'begin { print(NOT_THERE); }\n', **env)
    cases.check(not HAS_BTF or "hint: the kernel's <net/none.h> may define it" in done.stderr,
                'a name that a header may define: the header is named', done.stderr)
    done = run(folder, [STRATA, '-q'], '#include <linux/fs.h>\nbegin { print(DT_FIFO); exit() }\n', **env)
    cases.check(not HAS_BTF or done.stdout.startswith('1\n'), "the C library's header of the name is not enough",
                done.stdout, done.stderr)
    done = run(folder, [STRATA, '--dry-run'], '#include <net/none.h>\nbegin { print(sizeof(struct quixotic_windmill)); }\n', **env)
    cases.check(not HAS_BTF or "hint: the kernel's <net/none.h> may define it" in done.stderr,
                'a type that a header may define', done.stderr)
    done = run(folder, [STRATA, '--dry-run'], 'begin { print(AF_INET); }\n', **env)
    cases.check('unknown variable or function: AF_INET' in done.stderr, 'a script without headers has no constants',
                done.stderr)


def without(cases, folder):
    """Makes files with these names that are not libraries."""
    fake = pathlib.Path(folder, 'lib')
    fake.mkdir()
    for v in range(18, 22):
        for name in (f'libclang-{v}.so.1', f'libclang.so.{v}.1'):
            (fake / name).touch()
    done = run(folder, [STRATA, '--dry-run'], '#define X (1)\nbegin { exit() }\n', LD_LIBRARY_PATH=str(fake))
    cases.check(done.returncode == 1 and 'this needs libclang' in done.stderr and 'libclang1-' in done.stderr,
                'without libclang there is a hint at its package', done.stderr)
    plain = '#define X 1 // one\n#ifndef BPFTRACE_HAVE_BTF\n#include <x.h>\n#else\n#define Y 2\n#endif\n'
    done = run(folder, [STRATA, '--dry-run'], plain + 'begin { print(X + Y) }\n', LD_LIBRARY_PATH=str(fake))
    cases.check(not HAS_BTF or done.returncode == 0, 'macros that are a number do not need it', done.stderr)
    done = run(folder, [STRATA, '-q', '--dry-run'], 'begin { exit() }\n', LD_LIBRARY_PATH=str(fake))
    cases.check(done.returncode == 0, 'a script without a C part does not need it', done.stderr)


def no_libc(cases, folder):
    """A machine without a compiler: bpftrace 0.17's tcpconnect has such lines."""
    hidden = ['unshare', '--mount', '--propagation', peer.propagation(), 'sh', '-c', 'mount -t tmpfs none /usr/include && exec "$@"', 'sh']
    done = run(folder, [*hidden, STRATA, '--dry-run'], '#include <sys/socket.h>\n#include <stdint.h>\n'
               '#if AF_INET != 2 || AF_INET6 != 10\n#error\n#endif\nbegin { print((AF_UNIX, AF_INET6)); exit() }\n')
    cases.check(done.returncode == 0, "headers that come with strata, without the C library's", done.stderr)
    done = run(folder, [*hidden, STRATA, '--dry-run'], '#include <netdb.h>\nbegin { exit() }\n')
    cases.check(done.returncode == 1 and "'netdb.h' file not found" in done.stderr, 'they are hidden', done.stderr)


def btf(cases, folder):
    script = ('#include <linux/of-no-version.h>\n#ifndef BPFTRACE_HAVE_BTF\n#error\n#endif\n'
              'struct s { struct list_head l; u32 x; char comm[TASK_COMM_LEN]; };\n// ask struct s\n')
    done = run(folder, [ASK], script)
    cases.check('struct s, 40 bytes' in done.stdout, 'types and constants of BTF, a header passed over',
                done.stdout, done.stderr)
    done = run(folder, [STRATA, '--dry-run', '-v'], 'struct task_struct { int pid; };\n'
               'begin { print(sizeof(struct task_struct)); }\n')
    cases.check(re.search(r'struct task_struct has 4 bytes in the C part, \d+ in this', done.stderr),
                "-v says that the kernel's differs", done.stderr)


def main():
    cases = Cases()
    with tempfile.TemporaryDirectory() as folder:
        for name, text in HEADERS.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        found(cases, folder)
        options(cases, folder)
        passed_over(cases, folder)
        without(cases, folder)
        if os.geteuid() == 0:
            no_libc(cases, folder)
        if HAS_BTF:
            btf(cases, folder)
    return cases.done()


if __name__ == '__main__':
    sys.exit(main())
