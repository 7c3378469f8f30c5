# SPDX-License-Identifier: Apache-2.0
"""packages.py - unpacks Debian's packages of any suite and architecture next to the system.

It gives apt a private state directory and the host's mirror; the host's own apt and dpkg
stay unchanged. Usage: packages.py SUITE ARCH DIRECTORY PACKAGE..."""
import fcntl
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from absent import Missing

MIRROR = 'http://deb.debian.org/debian'


def mirror():
    """Returns the mirror from which the host gets Debian's packages."""
    lists = [pathlib.Path('/etc/apt/sources.list'),
             *pathlib.Path('/etc/apt/sources.list.d').glob('*')]
    for path in lists:
        if path.is_file():
            found = re.search(r'^(?:deb(?: \[.*?\])?|URIs:) (\S+/debian)/?\s', path.read_text(), re.M)
            if found:
                return found.group(1)
    return MIRROR


def run(command, **options):
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, **options)
    sys.stderr.write(done.stderr)
    if done.returncode:
        said = [line for line in done.stderr.strip().splitlines() if 'log of this run' not in line]
        reason = next((line for line in said if 'reason:' in line), said[-1] if said else 'without a word')
        raise Missing(f'{command[0]} failed: {reason}')
    return done


def apt(state, arch, command, *args, cwd=None, stdout=sys.stderr, archives=None):
    if not shutil.which('apt-get'):
        raise Missing("Debian's packages need apt-get")
    options = {'Dir::State': state, 'Dir::State::status': state / 'status',
               'Dir::Cache': state / 'cache', 'Dir::Cache::archives': archives or state / 'cache' / 'archives',
               'Dir::Etc::sourcelist': state / 'sources.list',
               'Dir::Etc::sourceparts': '-', 'APT::Architecture': arch, 'APT::Architectures::': arch,
               'APT::Sandbox::User': 'root',
               'Acquire::Retries': '3', 'Acquire::Check-Valid-Until': 'false'}  # a mirror may be a snapshot
    return run(['apt-get', '-qq', *(w for k, v in options.items() for w in ('-o', f'{k}={v}')),
                command, *args], cwd=cwd, stdout=stdout)


def open_suite(cache, suite, arch, kind='deb'):
    """Returns the directory of apt's state, and fetches its lists once. kind: deb or deb-src."""
    state = pathlib.Path(cache).resolve() / f'apt-{suite}-{arch if kind == "deb" else "source"}'
    lists = state / 'lists'
    state.parent.mkdir(parents=True, exist_ok=True)
    with open(f'{state}.lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (state / 'done').exists():
            return state
        shutil.rmtree(state, ignore_errors=True)
        for path in (lists / 'partial', state / 'cache' / 'archives' / 'partial'):
            path.mkdir(parents=True)
        (state / 'status').touch()
        (state / 'sources.list').write_text(
            f'{kind} [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {mirror()} {suite} main\n')
        apt(state, arch, 'update')
        (state / 'done').touch()
    return state


def unpack_debs(downloads, directory):
    """Merges the files as dpkg does: /bin may already be a link to /usr/bin."""
    directory.mkdir(parents=True, exist_ok=True)
    for package in sorted(downloads.glob('*.deb')):
        data = subprocess.Popen(['dpkg-deb', '--fsys-tarfile', package], stdout=subprocess.PIPE)
        subprocess.run(['tar', '-C', directory, '--keep-directory-symlink', '-xf', '-'],
                       stdin=data.stdout, check=True)
        data.stdout.close()
        if data.wait():
            raise subprocess.CalledProcessError(data.returncode, 'dpkg-deb')


def unpack(cache, suite, arch, directory, packages, command=('download',)):
    """Unpacks only these packages, without their dependencies."""
    state = open_suite(cache, suite, arch)
    with tempfile.TemporaryDirectory(dir=state) as downloads:
        downloads = pathlib.Path(downloads)
        (downloads / 'partial').mkdir()
        try:
            apt(state, arch, *command, *packages, cwd=downloads, archives=downloads)
        except Missing: # the lists may be older than the suite
            apt(state, arch, 'update')
            apt(state, arch, *command, *packages, cwd=downloads, archives=downloads)
        unpack_debs(downloads, pathlib.Path(directory).resolve())


def unpack_whole(cache, suite, arch, directory, packages):
    """Unpacks these packages with all their dependencies, so that programs of the directory run
    with it as their root."""
    directory = pathlib.Path(directory).resolve()
    for merged in ('bin', 'lib', 'lib64', 'sbin'):
        (directory / 'usr' / merged).mkdir(parents=True, exist_ok=True)
        if not (directory / merged).is_symlink():
            (directory / merged).symlink_to('usr/' + merged)
    unpack(cache, suite, arch, directory, packages,
           ('install', '--yes', '--download-only', '--no-install-recommends'))


def source(cache, suite, directory, package):
    """Unpacks the sources of a package as upstream released them."""
    state = open_suite(cache, suite, 'amd64', 'deb-src')
    directory = pathlib.Path(directory).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    apt(state, 'amd64', 'source', '--download-only', package, cwd=directory)
    for archive in directory.glob('*.orig.tar.*'):
        if archive.suffix != '.asc':
            subprocess.run(['tar', '-xf', archive, '-C', directory, '--strip-components=1'], check=True)


def needed(cache, suite, arch, package):
    """Returns the names of the packages that apt would install with this one."""
    state = open_suite(cache, suite, arch)
    out = apt(state, arch, 'install', '-s', '-q', package, stdout=subprocess.PIPE).stdout
    return re.findall(r'^Inst (\S+)', out, re.M)


if __name__ == '__main__':
    unpack(pathlib.Path(sys.argv[3]).parent, *sys.argv[1:4], sys.argv[4:])
