#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hosts.py STRATA - strata --host: the answer is the sum of the hosts'; a host that is unreachable or dies midway is named, and
nothing is left running. The hosts are shells of this machine, by --ssh."""
import os
import pathlib
import pty
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lib'))
import tap
from agents import until

STRATA = os.path.realpath(sys.argv[1])
SSH = '''#!/bin/sh
# HOST COMMAND
export PATH=%s:$PATH HOST_NAME=$1
[ "$1" = echo ] && { printf '%%s' "$2" >%s/words; exit 1; }
[ "$1" = away ] && { echo "ssh: connect to host away port 22: Connection refused\r" >&2; exit 255; }
[ "$1" = old ] && { echo "sh: strata: not found" >&2; exit 127; }
[ "$1" = noise ] && { echo "welcome to the machine"; exit 0; }
echo $$ > %s/pid.$1
[ "$1" = hung ] && exec sleep 1000
# Hosts without strata, or with another version.
bare=%s/$1 tools=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
case $1 in
bare-*) mkdir -p $bare; export PATH=$bare:$tools TMPDIR=$bare HOME=$bare ;;
esac
case $1 in
bare-old) export PATH=%s/old:$tools ;;
bare-noise) echo "welcome to the machine" ;;
bare-cut) head -c 1000 | sh -c "$2"; exit ;;
bare-other) export PATH=%s/s390x:$tools ;;
bare-noexec) exec unshare -m sh -c 'mount -t tmpfs -o noexec none $TMPDIR; exec sh -c "$1"' sh "$2" ;;
bare-small) exec unshare -m sh -c 'mount -t tmpfs -o size=64k none $TMPDIR; exec sh -c "$1"' sh "$2" ;;
bare-full) exec unshare -m sh -c 'for d in /var/tmp /dev/shm /run /tmp; do mount -t tmpfs -o noexec none $d; done; exec sh -c "$1"' sh "$2" ;;
esac
exec ${LOGIN_SHELL:-sh} -c "$2"
'''
# Each host adds 1..20 to its sums.
SCRIPT = '''begin { @i = 0; @low = min(100); } interval:ms:20 / @i < 20 / { @i++; @sum = sum((uint64)@i); @n[str($1)] = count();
    @low = min(@i); @avg = avg(10); if (@i == 20) { printf("it's %s\\n", str($1)); exit(); } }'''
CALLS = 'tracepoint:raw_syscalls:sys_enter { @calls = count(); }'
ENDLESS = 'begin { @ticks = count(); } interval:ms:20 { @ticks = count(); @s[kstack] = count(); }'


class Hosts:
    def __init__(self, home):
        self.home = home
        (home / 'strata').symlink_to(STRATA)
        self.ssh = home / 'ssh'
        self.ssh.write_text(SSH % ((home,) * 6))
        self.ssh.chmod(0o755)

    def words(self, hosts, *args):
        return [STRATA, '--host', hosts, '--ssh', str(self.ssh), *map(str, args)]

    def run(self, hosts, *args):
        return subprocess.run(self.words(hosts, *args), capture_output=True, text=True, timeout=120)

    def pid(self, host):
        path = self.home / f'pid.{host}'
        return int(path.read_text()) if path.exists() and path.read_text().strip() else 0

    def left(self):
        """Returns processes that still run the far strata."""
        return subprocess.run(['pgrep', '-f', f'until-eof.*{ENDLESS[:20]}'], capture_output=True, text=True).stdout.split()


KUBECTL = '''#!/bin/sh
# Records its words, and runs the script of exec here.
for word; do printf '%%s\\n' "$word"; done >>%(home)s/kubectl.words
while [ "$1" != get ] && [ "$1" != exec ]; do shift; done
if [ "$1" = get ]; then
    case "$*" in *none*) ;; *) printf 'pod/strata-agent-a\\npod/strata-agent-b\\n' ;; esac
    exit
fi
[ "$3" = strata-agent-b ] && [ -e %(home)s/b.fails ] && { echo 'error: pod not found' >&2; exit 1; }
while [ "$1" != -- ]; do shift; done
shift
export PATH=%(home)s:$PATH
exec "$@"
'''


def test_kubectl(cases, hosts):
    """kubectl-strata next to a kubectl that records its words."""
    plugin = hosts.home / "it's here" / 'kubectl-strata'
    plugin.parent.mkdir()
    plugin.write_text((pathlib.Path(__file__).resolve().parents[2] / 'packaging/kubernetes/kubectl-strata').read_text())
    plugin.chmod(0o755)
    (hosts.home / 'kubectl').write_text(KUBECTL % {'home': hosts.home})
    (hosts.home / 'kubectl').chmod(0o755)
    recorded = hosts.home / 'kubectl.words'
    env = os.environ | {'PATH': f'{hosts.home}:{os.environ["PATH"]}'}

    def run(*args):
        recorded.write_text('')
        return subprocess.run([plugin, *args], capture_output=True, text=True, timeout=120, env=env)

    done = run('-n', 'my space', '--context', 'c', '-e', SCRIPT, "it's")
    cases.check(done.returncode == 0 and '@sum: 420' in done.stdout and "@n[it's]: 40" in done.stdout, 'kubectl strata: two pods', done)
    words = recorded.read_text().split('\n')
    head = ['--context', 'c', '--namespace', 'my space']
    cases.check(words[:13] == [*head, 'get', 'pods', '--selector', 'app.kubernetes.io/name=strata-agent', '--field-selector',
                               'status.phase=Running', '--output', 'name', '--context'], '..which it finds by the label', words)
    starts = [i for i, word in enumerate(words) if word == 'exec']
    seen = sorted(words[i - 4:i + 8] for i in starts)
    cases.check(seen == [[*head, 'exec', '-i', f'strata-agent-{x}', '-c', 'agent', '--', 'sh', '-c'] for x in 'ab'],
                '..and calls by kubectl exec', words)
    (hosts.home / 'b.fails').touch()
    done = run('-l', 'a=b', '--', '-e', SCRIPT, 'x')
    cases.check(done.returncode == 1 and 'strata-agent-b: error: pod not found' in done.stderr and '@sum: 210' in done.stdout and
                'a=b' in recorded.read_text(), '..a pod that fails is named', done)
    done = run('-l', 'none', '-e', SCRIPT)
    cases.check(done.returncode == 1 and 'no pod runs' in done.stderr, '..as is a label without pods', done)
    done = run()
    cases.check(done.returncode == 1 and 'a script is missing' in done.stderr, '..and a missing script', done)


def attached(shell):
    """Whether the far strata, a child of this shell, has opened its probes."""
    try:
        return traces(int(pathlib.Path(f'/proc/{shell}/task/{shell}/children').read_text().split()[0]))
    except (OSError, IndexError):
        return False


def traces(pid):
    try:
        files = [os.readlink(f'/proc/{pid}/fd/{fd}') for fd in os.listdir(f'/proc/{pid}/fd')]
        return any('bpf_link' in name or 'perf_event' in name for name in files)
    except OSError:
        return False


def test_sum(cases, hosts):
    names = hosts.home / 'names'
    names.write_text('c # the third\n\nd\n')
    done = hosts.run(f'a,b,@{names}', '-e', SCRIPT, 'it\'s "quoted" $HOME')
    lines = done.stdout.splitlines()
    cases.check(done.returncode == 0 and not done.stderr, 'four hosts', done)
    for want in ('@sum: 840', '@n[it\'s "quoted" $HOME]: 80', '@low: 1', '@avg: 10', '@i[c]: 20', 'd: it\'s it\'s "quoted" $HOME'):
        cases.check(want in lines, want, done.stdout)
    done = hosts.run('a,b', '--by', 'host', '-e', SCRIPT, 'x')
    cases.check('@sum[a]: 210' in done.stdout and '@n[b, x]: 20' in done.stdout, '--by host', done.stdout)
    done = hosts.run('a,b', '-d', '1', '-o', hosts.home / 'cpu.svg', 'cpu', '--hz', '199')
    cases.check(done.returncode == 0 and '<svg' in (hosts.home / 'cpu.svg').read_text(), 'a picture, of a tool', done)


def test_shells(cases, hosts):
    """The shell of the login may be another one."""
    script = "begin { @[str($1)] = count(); exit(); }"
    pushed = Pushed(hosts)
    for shell in filter(shutil.which, ('sh', 'bash', 'zsh', 'fish')):
        os.environ['LOGIN_SHELL'] = shutil.which(shell)
        for names, option in ('a,b', []), ('bare-1,bare-2', [f'--push={pushed.program}']):
            done = hosts.run(names, *option, '-e', script, "it's \\'\\\\ $HOME $(x) *")
            cases.check(done.returncode == 0 and "@[it's \\'\\\\ $HOME $(x) *]: 2" in done.stdout.splitlines(), f'{shell}, with{"" if option else "out"} --push', done)
    del os.environ['LOGIN_SHELL']


def test_filters(cases, hosts):
    """Users and cgroups are those of the hosts, as containers are."""
    options = ['--container', "it's web", '--cgroup', '/not/here', '--user', 'no user']
    done = hosts.run('echo', *options, '-e', SCRIPT)
    words = shlex.split((hosts.home / 'words').read_text()) if (hosts.home / 'words').exists() else []
    pairs = list(zip(words, words[1:]))
    cases.check(all(pair in pairs for pair in zip(options[::2], options[1::2])), 'the hosts get the filters as given', words, done)
    for user, want in ('0', True), ('65533', False):
        done = hosts.run('u,v', '--user', user, '-d', '1', '-e', CALLS)
        cases.check(done.returncode == 0 and ('@calls' in done.stdout) == want, f'--user {user} filters', done)
    done = hosts.run('u', '--user', 'no user', '-e', CALLS)
    cases.check(done.returncode == 1 and 'u: ' in done.stderr and 'no user' in done.stderr, 'a host without the user says so', done)


def test_twice(cases, hosts):
    done = hosts.run('a,b,a', '-e', SCRIPT, 'x')
    cases.check(done.returncode == 0 and '@sum: 420' in done.stdout.splitlines(), 'a host that is named twice counts once', done)


def test_options(cases, hosts):
    """An option that the hosts would not get is refused: they would attach probes, or answer something else."""
    for option in (['--dry-run'], ['--test'], ['--window', '1s'], ['--probe-filter', 'x'], ['-k'], ['-I', '/tmp']):
        done = hosts.run('a', *option, '-e', SCRIPT)
        cases.check(done.returncode == 1 and f'--host cannot be used with {option[0]}' in done.stderr, f'{option[0]} is refused',
                    done.stdout, done.stderr)


def test_alone(cases, hosts):
    for option in (['--push'], ['--ssh', 'x'], ['--by', 'host']):
        done = subprocess.run([STRATA, *option, '-e', SCRIPT], capture_output=True, text=True, timeout=60)
        cases.check(done.returncode == 1 and f'error: {option[0]} needs --host' in done.stderr, f'{option[0]} needs --host', done)


def test_long(cases, hosts):
    script = hosts.home / 'long.bt'
    script.write_text(SCRIPT + '// ' + 'x' * 200000)
    done = hosts.run('a', script, 'x')
    cases.check(done.returncode == 1 and 'a: the script is too long' in done.stderr, 'a script that no command can have', done.stderr[:500])


def test_losses(cases, hosts):
    """A picture has no place for a loss: it is a warning."""
    full = 'config = { max_map_keys = 2 } profile:hz:99 { @i++; @x[@i] = count(); @s[kstack] = count(); if (@i == 20) { exit(); } }'
    done = hosts.run('a', '-o', hosts.home / 'lost.svg', '-e', full)
    cases.check(done.returncode == 0 and 'warning: a: ' in done.stderr, 'a picture does not hide losses', done)


def test_hung(cases, hosts):
    """A host that does not answer, and one signal."""
    process = subprocess.Popen(hosts.words('a,hung', '-e', ENDLESS), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    cases.check(until(lambda: hosts.pid('hung') and attached(hosts.pid('a'))), 'a host that hangs, and one that runs')
    process.terminate()
    try:
        out, errors = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        out, errors = process.communicate()
    cases.check(process.returncode == 1 and '@ticks' in out and 'hung: it does not answer' in errors, 'a host that hangs is left out',
                process.returncode, out[-500:], errors)


def test_failing(cases, hosts):
    done = hosts.run('a,away,old,b,noise', '-e', SCRIPT, 'x')
    cases.check(done.returncode == 1 and '@sum: 420' in done.stdout, 'the answer is that of the others', done)
    for want in ('away: ssh: connect to host away port 22: Connection refused\n', 'old: sh: strata: not found', 'hint: --push brings', 'noise:1: ',
                 '2 of 5 hosts answered'):
        cases.check(want in done.stderr, want, done.stderr)
    for what, words, want in (('-p', ['-p', os.getpid(), '-e', SCRIPT], 'cannot be used with -p'), ('-t', ['-t', 1, '-e', SCRIPT], '-t'),
                              ('-f json', ['-f', 'json', '-e', SCRIPT], 'format json')):
        done = hosts.run('a', *words)
        cases.check(done.returncode == 1 and want in done.stderr, f'{what} is refused', done.stderr)
    done = hosts.run('-oProxyCommand=x', '-e', SCRIPT)
    cases.check(done.returncode == 1 and 'names of hosts' in done.stderr, 'a name is not an option of ssh', done.stderr)


def start(hosts, names):
    process = subprocess.Popen(hosts.words(names, '-e', ENDLESS), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert until(lambda: all(attached(hosts.pid(name)) for name in names.split(',')))
    return process


# A static program that runs the strata of this test, after it has left a sign.
STATIC = '''#include <fcntl.h>
#include <unistd.h>
int main(int n, char **words)
{
	return open("%s/pushed", O_CREAT | O_WRONLY | O_APPEND, 0600) < 0 || execv("%s", words);
}
'''


def files_of_push():
    return set(map(str, pathlib.Path('/tmp').glob('strata.*')))


class Pushed:
    """The static program, and what it leaves."""
    def __init__(self, hosts):
        self.hosts, self.sign = hosts, hosts.home / 'pushed'
        self.before = files_of_push()
        self.program = hosts.home / 'static'
        subprocess.run(['cc', '-static', '-x', 'c', '-o', self.program, '-'], input=STATIC % (hosts.home, STRATA), text=True,
                       check=True)
        with open(self.program, 'ab') as file:
            file.write(os.urandom(3 << 20))
        for name, text in ('old/strata', 'echo strata 0.0.1'), ('s390x/uname', 'echo s390x'):
            path = hosts.home / name
            path.parent.mkdir()
            path.write_text(f'#!/bin/sh\n{text}\n')
            path.chmod(0o755)

    def run(self, names):
        self.sign.unlink(missing_ok=True)
        return self.hosts.run(names, f'--push={self.program}', '-e', SCRIPT, 'x')

    def left(self):
        """Returns files of the hosts: they begin with none."""
        return [str(path) for path in self.hosts.home.glob('bare-*/*')] + sorted(files_of_push() - self.before)


def test_push(cases, hosts):
    pushed = Pushed(hosts)
    done = pushed.run('bare-1,bare-2,bare-old')
    cases.check(done.returncode == 0 and '@sum: 630' in done.stdout.splitlines() and not done.stderr and pushed.sign.exists(),
                '--push: hosts without strata, and with another version', done)
    cases.check(not pushed.left(), '..which have no file of it then', pushed.left())
    done = pushed.run('a,b')
    cases.check(done.returncode == 0 and '@sum: 420' in done.stdout.splitlines() and not pushed.sign.exists(),
                'hosts with the same version use theirs', done)
    done = pushed.run('bare-noise')
    cases.check(done.returncode == 0 and '@sum: 210' in done.stdout.splitlines(), 'a greeting of the shell does not matter', done)
    done = pushed.run('bare-1,bare-cut')
    cases.check(done.returncode == 1 and '@sum: 210' in done.stdout and not pushed.left() and
                'bare-cut: cannot unpack the program in ' in done.stderr and
                'unexpected end of file' in done.stderr, 'a connection that breaks leaves nothing', done, pushed.left())
    for path, option, why in ((STRATA, '=', 'needs libraries'), (hosts.ssh, '=', 'not a program'), (hosts.home / 'none', '=', 'No such file'),
                              ('', '', 'this strata is not a static program. Use --push=PROGRAM')):
        done = hosts.run('bare-1', f'--push{option}{path}', '-e', SCRIPT, 'x')
        cases.check(done.returncode == 1 and why in done.stderr and './dev package' in done.stderr, f'--push: {why}', done)


def test_push_places(cases, hosts):
    """Hosts that cannot take the program, or only elsewhere."""
    pushed = Pushed(hosts)
    done = pushed.run('bare-other')
    cases.check(done.returncode == 1 and f'bare-other: --push has a program for {os.uname().machine}, and this is s390x' in done.stderr,
                'a program of another machine', done)
    done = pushed.run('bare-noexec,bare-small')
    cases.check(done.returncode == 0 and '@sum: 420' in done.stdout.splitlines() and pushed.sign.exists() and not pushed.left(),
                'directories without execution and without room: the next one is used', done, pushed.left())
    done = pushed.run('bare-full')
    cases.check(done.returncode == 1 and 'bare-full: no directory can take the program of 3 MB: ' in done.stderr and
                '/tmp lets no program run (noexec), /var/tmp lets' in done.stderr, '..and if there is none, each is named', done)


def test_push_running(cases, hosts):
    """No file is left while it runs, so that nothing can leave one. A terminal shows the progress."""
    pushed = Pushed(hosts)
    ours, terminal = pty.openpty()
    words = hosts.words('bare-1,bare-2', f'--push={pushed.program}', '-e', ENDLESS)
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=terminal, text=True)
    os.close(terminal)
    cases.check(until(lambda: all(traces(hosts.pid(name)) for name in ('bare-1', 'bare-2'))), '--push: two hosts run')
    said = os.read(ours, 65536).decode()
    cases.check('sending strata to 2 hosts: ' in said and 'MB' in said, '..and the progress was shown', said)
    cases.check(not pushed.left(), '..from no file', pushed.left())
    process.kill()
    process.communicate(timeout=60)
    os.close(ours)
    cases.check(until(lambda: not hosts.left()) and not pushed.left(), '..and kill -9 of the near strata ends them', hosts.left())


def test_ends(cases, hosts):
    process = start(hosts, 'e1,e2,e3')
    os.kill(hosts.pid('e2'), signal.SIGKILL)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=60)
    cases.check(process.returncode == 1 and '@ticks: ' in out and '2 of 3 hosts answered' in errors and 'e2: ' in errors,
                'a host that dies midway, and Ctrl-C', out, errors)
    cases.check(until(lambda: not hosts.left()), 'nothing is left', hosts.left())
    process = start(hosts, 'k1,k2')
    process.kill()
    process.communicate(timeout=60)
    cases.check(until(lambda: not hosts.left()), 'nothing is left after kill -9 either', hosts.left())


def main():
    cases = tap.Cases()
    if os.geteuid():
        print('1..0 # skipped: not root')
        return 0
    for test in (test_sum, test_shells, test_filters, test_twice, test_options, test_alone, test_long, test_losses, test_hung, test_failing, test_push,
                 test_push_places, test_push_running, test_ends, test_kubectl):
        with tempfile.TemporaryDirectory() as home:
            test(cases, Hosts(pathlib.Path(home)))
    return cases.done()


sys.exit(main())
