# SPDX-License-Identifier: Apache-2.0
"""programs.py - starts real software from Debian's packages, gives it work repeatedly, and ends it.

Programs that are not installed are omitted, with a message:
    apt-get install postgresql nginx-light redis-server mariadb-server git gcc g++ make clang ffmpeg perl
        gunicorn python3-flask nodejs golang-go chromium openjdk-17-jdk-headless wrk elfutils"""
import ctypes
import glob
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / 'lib'))
import packages  # noqa: E402
from absent import Missing  # noqa: E402

FILES = HERE / 'programs'
CACHE = pathlib.Path(os.environ.get('STRATA_PACKAGES') or TOP / 'build' / 'packages')
PR_SET_CHILD_SUBREAPER = 36

# Name, needs, preparation, server, and a piece of work. These are shell commands that run in the program's own
# directory; $port is its own port, $files is programs/ of this tree.
ROWS = [
    ('postgres', 'runuser pgbench',
     'chmod 755 .; mkdir db && chown postgres db && runuser -u postgres -- $postgres/initdb -D db',
     'exec runuser -u postgres -- $postgres/postgres -D db -k $PWD/db -p $port -c listen_addresses=',
     '[ -f made ] || { createdb -U postgres -h $PWD/db -p $port bench; '
     'pgbench -U postgres -h $PWD/db -p $port -i -s 3 bench; touch made; }; '
     'pgbench -U postgres -h $PWD/db -p $port -c 3 -T 3 bench; pgbench -U postgres -h $PWD/db -p $port -S -c 3 -T 2 bench'),
    ('nginx', 'nginx wrk',
     'seq 20000 > page; echo "daemon off; pid $PWD/pid; user root; error_log $PWD/log; events {} http { access_log off; '
     'gzip on; gzip_types *; server { listen 127.0.0.1:$port; root $PWD; } }" > conf',
     'exec nginx -c $PWD/conf', 'wrk -t 1 -c 8 -d 3 -H "Accept-Encoding: gzip" http://127.0.0.1:$port/page'),
    ('redis', 'redis-server redis-benchmark', '', 'exec redis-server --port $port --save ""',
     'redis-benchmark -p $port -q -n 30000'),
    ('mariadb', 'mariadbd mariadb-slap',
     'mariadb-install-db --user=root --datadir=$PWD/db --auth-root-authentication-method=normal',
     'exec mariadbd --no-defaults --user=root --datadir=$PWD/db --socket=$PWD/socket --skip-networking --pid-file=$PWD/pid',
     'mariadb-slap -uroot -S $PWD/socket --auto-generate-sql --auto-generate-sql-load-type=mixed '
     '--concurrency=3 --number-of-queries=3000'),
    ('git', 'git', 'git clone -q --no-hardlinks $top tree', '',
     'cd tree && git log --stat -300 >all && git grep -n int | sort | uniq -c >all && git blame -w src/driver/driver.c >all; '
     'git repack -qadf; git fsck --no-progress'),
    ('gcc', 'gcc g++ make',
     'for i in $(seq 40); do { echo "#include <stdio.h>"; for k in $(seq 60); do '
     'echo "int f${i}_$k(int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i] * $k; return s; }"; done; } > f$i.c; done; '
     'printf "all: \\$(patsubst %%.c,%%.o,\\$(wildcard *.c)) t.o\\nt.o: $files/templates.cc\\n'
     '\\tg++ -O2 -std=c++17 -c -o t.o \\$<\\nf%%.o: f%%.c\\n\\tgcc -O2 -c -o \\$@ \\$<\\n" > Makefile', '',
     'make -j$jobs; rm -f *.o'),
    ('clang', 'clang', '', '', 'clang++ -O2 -std=c++17 -c -o t.o $files/templates.cc'),
    ('ffmpeg', 'ffmpeg', '', '',
     'ffmpeg -v error -y -f lavfi -i testsrc2=size=640x360:rate=30 -f lavfi -i sine -t 6 -c:v libx264 -c:a aac v.mp4; '
     'ffmpeg -v error -y -i v.mp4 -t 1 -c:v libvpx-vp9 -c:a libopus v.webm'),
    ('perl', 'perl', '', '', 'perl $files/work.pl 3'),
    ('python', 'gunicorn wrk', 'python3 -c "import flask"',
     'exec gunicorn -w 2 --threads 2 -b 127.0.0.1:$port --chdir $files web:app',
     'wrk -t 1 -c 4 -d 3 http://127.0.0.1:$port/'),
    ('node', 'node wrk', '', 'exec node $files/server.js $port', 'wrk -t 1 -c 4 -d 3 http://127.0.0.1:$port/'),
    ('tsc', 'node', '[ -f $typescript/tsc.js ]', '',
     'node $typescript/tsc.js --noEmit --lib es2020,dom $typescript/typescript.d.ts'),
    ('go', 'go wrk', 'cp $files/server.go . && GOFLAGS=-mod=mod go build -o goserver server.go', 'exec ./goserver $port',
     'wrk -t 1 -c 4 -d 3 http://127.0.0.1:$port/'),
    ('chromium', 'chromium', '',
     'exec chromium --headless=new --no-sandbox --disable-gpu --user-data-dir=$PWD/profile --remote-debugging-port=$port '
     'file://$files/page.html', ''),
    ('java', 'java wrk', '', 'exec java $files/Server.java $port', 'wrk -t 1 -c 4 -d 3 http://127.0.0.1:$port/'),
    ('java-fp', 'java wrk', 'ln -s $(readlink -f $(command -v java)) java-fp',
     'exec ./java-fp -XX:+PreserveFramePointer $files/Server.java $port', 'wrk -t 1 -c 4 -d 3 http://127.0.0.1:$port/'),
]


def cgroups():
    """Returns the mount point of cgroups of version 2."""
    mounts = [line.split() for line in pathlib.Path('/proc/mounts').read_text().splitlines()]
    found = [mount[1] for mount in mounts if mount[2] == 'cgroup2']
    if not found:
        sys.exit('no cgroups of version 2 are mounted')
    return found[0]


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def typescript():
    """TypeScript's compiler, from Debian's package."""
    at = CACHE / 'typescript'
    if not at.exists():
        packages.unpack(CACHE, 'bookworm', 'amd64', at, ['node-typescript'])
    return at / 'usr/share/nodejs/typescript/lib'


def environment(directory, jobs):
    versions = sorted(glob.glob('/usr/lib/postgresql/*/bin'))
    return {**os.environ, 'port': str(free_port()), 'jobs': str(jobs), 'files': str(FILES), 'top': str(TOP), 'LC_ALL': 'C',
            'HOME': str(directory), 'GOCACHE': str(directory / 'go'), 'GOFLAGS': '-mod=mod',
            'postgres': versions[-1] if versions else '/nonexistent', 'typescript': str(typescript())}


class Programs:
    """The programs, in the cgroup with the number `group`, until stop(). only: their names; pause: seconds between two
    pieces of work; jobs: the number for make."""

    def __init__(self, directory, only=None, pause=0.0, jobs=2):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # all their remaining files
        self.directory, self.pause, self.jobs, self.missing = pathlib.Path(directory), pause, jobs, []
        self.cgroup = pathlib.Path(tempfile.mkdtemp(prefix='strata-busy-', dir=cgroups()))
        self.group = self.cgroup.stat().st_ino
        self.names = [row[0] for row in ROWS if not only or row[0] in only]
        for row in ROWS:
            if row[0] in self.names:
                try:
                    self.start(*row)
                except Missing as why:
                    self.missing.append((row[0], str(why)))

    def start(self, name, needs, prepare, server, work):
        absent = [need for need in needs.split() if not shutil.which(need)]
        if absent:
            raise Missing(f'{" ".join(absent)} not installed')
        directory = self.directory / name
        directory.mkdir(parents=True)
        directory.chmod(0o755)
        options = {'cwd': directory, 'env': environment(directory, self.jobs), 'stdin': subprocess.DEVNULL,
                   'stdout': open(directory / 'out', 'ab'), 'stderr': subprocess.STDOUT,
                   'preexec_fn': lambda: (self.cgroup / 'cgroup.procs').write_text('0')}
        if prepare and subprocess.run(['bash', '-c', prepare], **options).returncode:
            raise Missing(f'{name} could not be prepared: see {directory}/out')
        for command in (server, f'sleep {2 + random.uniform(0, self.pause):.1f}; while :; do ( {work} ); sleep {self.pause}; done' if work else ''):
            if command:
                subprocess.Popen(['bash', '-c', command], start_new_session=True, **options)

    def pids(self):
        return [int(pid) for pid in (self.cgroup / 'cgroup.procs').read_text().split()]

    def stop(self):
        for _ in range(100):
            pids = self.pids()
            if not pids:
                break
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            while True:
                try:
                    if not os.waitpid(-1, os.WNOHANG)[0]:
                        break
                except ChildProcessError:
                    break
            time.sleep(0.05)
        end = time.monotonic() + 10
        while True: # some of the killed processes may still exist
            try:
                self.cgroup.rmdir()
                break
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)
        shutil.rmtree(self.directory, ignore_errors=True)
