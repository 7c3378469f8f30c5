#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hosts_sshd.py STRATA - strata --host over ssh: eight sshd on loopback, each in namespaces of its own (pid, mount, uts), so that a
host can die with all of its processes. sshd and ssh are Debian's, in a tree of packages in build/sshd."""
import contextlib
import fcntl
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / 'tests/lib'))
import absent
import agents
import packages
import tap
from waits import comes

STRATA = os.path.realpath(sys.argv[1])
CACHE = pathlib.Path(os.environ.get('STRATA_SSHD', TOP / 'build' / 'sshd'))
ARCH = {'x86_64': 'amd64', 'aarch64': 'arm64'}[os.uname().machine]
TOOLS = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin'
# Each host adds 1..20 to its sum, says that it has, and goes on.
SCRIPT = '''begin { @i = 0; } interval:ms:20 / @i < 20 / {
    @i++; @sum = sum((uint64)@i); if (@i == 20) { system("touch /run/done"); } }'''
SERVER = '''Port %(port)d
ListenAddress 127.0.0.1
HostKey %(home)s/key
AuthorizedKeysFile %(home)s/user.pub
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
PidFile none
ClientAliveInterval 2
ClientAliveCountMax 2
SetEnv PATH=%(path)s TMPDIR=/run/tmp HOME=/run/home
'''
CLIENT = '''Host %(name)s
    HostName 127.0.0.1
    Port %(port)d
    User root
    IdentityFile %(home)s/user
    UserKnownHostsFile /dev/null
    StrictHostKeyChecking no
    LogLevel ERROR
'''
# The first process of a host.
START = '''mount -t tmpfs none /run && mkdir -m 755 -p /run/sshd /run/tmp /run/home || exit
for file in passwd shadow; do mount --bind $1/$file /etc/$file || exit; done
hostname "$2"
shift 2
exec "$@"
'''


def tree():
    """Returns the directory of Debian's sshd and ssh."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / 'lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (CACHE / 'done').exists():
            packages.unpack_whole(CACHE, 'bookworm', ARCH, CACHE / 'root', ['openssh-server', 'openssh-client'])
            (CACHE / 'done').touch()
    return CACHE.resolve() / 'root'


def program(path):
    """Returns words that run a program of the tree with the libraries of the tree."""
    root = tree()
    loader = next(root.glob('usr/lib*/ld-linux-*.so.*'))
    libraries = ':'.join(map(str, root.glob('usr/lib/*-linux-gnu')))
    return [str(loader), '--library-path', libraries, str(root / path)]


class Host:
    def __init__(self, home, name, path):
        self.home, self.name, self.port = home, name, agents.free_port()
        values = {'home': home, 'port': self.port, 'path': path, 'name': name}
        self.client = CLIENT % values
        conf = home / f'{name}.conf'
        conf.write_text(SERVER % values)
        words = ['unshare', '--mount', '--pid', '--uts', '--fork', '--kill-child', '--mount-proc', 'sh', '-c', START, 'sh',
                 str(home), name, *program('usr/sbin/sshd'), '-D', '-e', '-r', '-f', str(conf)]
        self.process = subprocess.Popen(words, stderr=open(home / f'{name}.log', 'w'))

    def first(self):
        """Returns the process ID of the namespace's first process, or 0."""
        path = pathlib.Path(f'/proc/{self.process.pid}/task/{self.process.pid}/children')
        return int((path.read_text().split() or ['0'])[0]) if path.exists() else 0

    def file(self, path):
        return pathlib.Path(f'/proc/{self.first()}/root{path}')

    def listens(self):
        return 'Server listening' in (self.home / f'{self.name}.log').read_text()

    def pids(self):
        space, found = os.readlink(f'/proc/{self.first()}/ns/pid'), []
        for entry in pathlib.Path('/proc').glob('[0-9]*'):
            try:
                if os.readlink(entry / 'ns/pid') == space:
                    found.append(int(entry.name))
            except OSError:
                pass
        return found

    def processes(self):
        """Returns the command lines of the host's processes other than sshd."""
        found = []
        for pid in self.pids():
            try:
                found.append(pathlib.Path(f'/proc/{pid}/cmdline').read_text().replace('\0', ' '))
            except OSError:
                pass
        return [words for words in found if words and 'sshd' not in words]

    def files(self):
        return [str(path) for place in ('/run/tmp', '/run/home') for path in self.file(place).glob('**/*') if path.is_file()]

    def signal(self, number):
        for pid in self.pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def die(self):
        os.kill(self.first(), signal.SIGKILL)
        self.process.wait(60)


class Fleet:
    """with Fleet(names) as fleet: hosts that have strata, or with bare=True none."""
    def __init__(self, names, bare=False):
        self.directory = tempfile.TemporaryDirectory()
        self.home = home = pathlib.Path(self.directory.name)
        (home / 'bin').mkdir()
        (home / 'bin/strata').symlink_to(STRATA)
        (home / 'passwd').write_text('root:x:0:0:root:/run/home:/bin/sh\nsshd:x:999:65534::/run/sshd:/usr/sbin/nologin\n')
        (home / 'shadow').write_text('root:*:19000::::::\n')
        for key in 'key', 'user':
            subprocess.run([*program('usr/bin/ssh-keygen'), '-q', '-t', 'ed25519', '-N', '', '-f', home / key], check=True)
        path = TOOLS if bare else f'{home}/bin:{TOOLS}'
        self.hosts = [Host(home, name, path) for name in names]
        (home / 'ssh.conf').write_text(''.join(host.client for host in self.hosts))

    def client(self):
        return shlex.join([*program('usr/bin/ssh'), '-F', str(self.home / 'ssh.conf'), '-o', 'BatchMode=yes', '-o',
                          'ServerAliveInterval=2', '-o', 'ServerAliveCountMax=2'])

    def words(self, *args, ssh=None):
        return [STRATA, '--host', ','.join(host.name for host in self.hosts), '--ssh', str(ssh or self.client()), '--unsafe', *map(str, args)]

    def start(self, *args, ssh=None):
        return subprocess.Popen(self.words(*args, ssh=ssh), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def counted(self):
        """Waits until each host has its sum."""
        return comes(lambda: all(host.file('/run/done').exists() for host in self.hosts), 60)

    def left(self, but=()):
        return [(host.name, host.processes(), host.files()) for host in self.hosts if host.name not in but and
                (host.processes() or host.files())]

    def __enter__(self):
        comes(lambda: all(host.listens() for host in self.hosts), 30)
        return self

    def __exit__(self, *error):
        for host in self.hosts:
            host.process.kill()
            host.process.wait(60)
        self.directory.cleanup()


def test_dies(cases):
    """The answer is the sum of the seven hosts that live."""
    with Fleet([f'h{i}' for i in range(1, 9)]) as fleet:
        process = fleet.start('-e', SCRIPT)
        cases.check(fleet.counted(), 'eight hosts', [(host.home / f'{host.name}.log').read_text() for host in fleet.hosts])
        fleet.hosts[4].die()
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=120)
        cases.check(process.returncode == 1 and '@sum: 1470' in out.splitlines(), 'one dies: the sum is that of seven', out, errors)
        cases.check('7 of 8 hosts answered' in errors and 'h5: ' in errors, '..which the error says', errors)
        cases.check(comes(lambda: not fleet.left(but=['h5'])), '..and nothing is left', fleet.left(but=['h5']))


def test_freezes(cases):
    """A host from which nothing comes any more, and that comes back."""
    with Fleet(['f1', 'f2']) as fleet:
        process = fleet.start('-e', SCRIPT)
        cases.check(fleet.counted(), 'two hosts', fleet.left())
        fleet.hosts[1].signal(signal.SIGSTOP)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=120)
        cases.check(process.returncode == 1 and '@sum: 210' in out.splitlines() and 'f2: ' in errors and '1 of 2 hosts answered' in errors,
                    'a host that freezes is left out', out, errors)
        fleet.hosts[1].signal(signal.SIGCONT)
        cases.check(comes(lambda: not fleet.left(), 30), '..and has nothing left when it goes on', fleet.left())


def test_killed(cases):
    """The near strata is killed."""
    with Fleet(['k1', 'k2']) as fleet:
        process = fleet.start('-e', SCRIPT)
        cases.check(fleet.counted(), 'two hosts', fleet.left())
        process.kill()
        process.communicate(timeout=60)
        cases.check(comes(lambda: not fleet.left(), 30), 'kill -9 of the near strata leaves nothing', fleet.left())


def static(home):
    """Returns a program without libraries, of 4 MB when it is packed, that runs the strata of this test."""
    text = '#include <unistd.h>\nint main(int n, char **words) { return n && execv("%s", words); }\n' % STRATA
    path = home / 'static'
    subprocess.run(['cc', '-static', '-x', 'c', '-o', path, '-'], input=text, text=True, check=True)
    with open(path, 'ab') as file:
        file.write(os.urandom(4 << 20))
    return path


def test_push(cases):
    with Fleet(['p1', 'p2', 'p3'], bare=True) as fleet:
        path = static(fleet.home)
        process = fleet.start(f'--push={path}', '-e', SCRIPT)
        cases.check(fleet.counted(), '--push: three hosts without strata', fleet.left())
        files = [host.files() for host in fleet.hosts]
        cases.check(not any(files), '..have no file of it while it runs', files)
        fleet.hosts[0].die()
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=120)
        cases.check(process.returncode == 1 and '@sum: 420' in out.splitlines() and 'p1: ' in errors and
                    '2 of 3 hosts answered' in errors, '..one of which dies', out, errors)
        cases.check(comes(lambda: not fleet.left(but=['p1'])), '..and nothing is left', fleet.left(but=['p1']))


# ssh that sends the first 2 MB, and keeps its input open until it, or the near strata, ends.
PART = '''#!/bin/sh
mkfifo %s/fifo
{ head -c 2000000; exec cat 4>&1 >/dev/null; } <&0 >%s/fifo &
%s "$@" <%s/fifo
code=$?
kill $!
exit $code
'''


def test_push_cut(cases):
    """Only a part of the program comes, and then the connection is cut, at either end."""
    for end in 'near', 'far':
        with Fleet(['c1'], bare=True) as fleet:
            host = fleet.hosts[0]
            part = fleet.home / 'part'
            part.write_text(PART % (fleet.home, fleet.home, fleet.client(), fleet.home))
            part.chmod(0o755)
            process = fleet.start(f'--push={static(fleet.home)}', '-e', SCRIPT, ssh=part)
            cases.check(comes(lambda: any('gzip -dc' in words for words in host.processes())), 'a part of the program comes',
                        host.processes())
            cases.check(not host.files(), '..to no file', host.files())
            if end == 'near':
                process.kill()
            else:
                host.die()
            errors = process.communicate(timeout=60)[1]
            cases.check(end == 'near' or 'c1: ' in errors and '0 of 1 hosts' in errors, '..and no more', errors)
            cases.check(end == 'far' or comes(lambda: not fleet.left(), 30), '..and nothing is left', end == 'near' and fleet.left())


def main():
    if os.geteuid():
        print('1..0 # skipped: not root')
        return 0
    try:
        tree()
    except absent.Missing as error:
        return absent.all_fail(str(error))
    cases = tap.Cases()
    for test in test_dies, test_freezes, test_killed, test_push, test_push_cut:
        test(cases)
    return cases.done()


sys.exit(main())
