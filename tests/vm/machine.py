# SPDX-License-Identifier: Apache-2.0
"""machine.py - a Debian machine under qemu's emulation: one boot, one command.

    machine.py ARCH SUITE DIRECTORY COMMAND...     ARCH: arm64, amd64

The kernel is the suite's cloud kernel, which has disks and ext4 built in and so needs
neither modules nor an initramfs. The disk is made for the run: Debian 13's packages, plainly
unpacked (no maintainer script is run), in the first partition; a copy of DIRECTORY in the
second, seen under its own name. What the command says is passed on line by line as it
comes; its status is ours; nothing else leaves the machine."""
import os
import pathlib
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import zlib

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / 'tests' / 'lib'))
import packages  # noqa: E402

CACHE = pathlib.Path(os.environ.get('STRATA_PACKAGES') or TOP / 'build' / 'packages')
ROOT_SUITE = 'trixie'
ROOT_PACKAGES = '''base-files base-passwd bash dash coreutils util-linux mount grep sed mawk findutils
    procps binutils libc-bin libc6 libgcc-s1 libstdc++6 zlib1g libzstd1 libelf1 libdw1 libbpf1 libtinfo6
    libcapstone5 python3 gdb git'''.split()
# What a build on Debian 12 or Ubuntu 24.04 opens.
OLDER_SUITE, OLDER_PACKAGES = 'bookworm', ['libcapstone4']

# Per architecture: the emulator, the cheapest machine for us, where its console is. The
# processor called max signs return addresses; impdef is a signature that costs little.
QEMU = {
    'arm64': ('qemu-system-aarch64', ['-machine', 'virt,gic-version=3'], 'max,pauth-impdef=on', 'ttyAMA0'),
    'amd64': ('qemu-system-x86_64', ['-machine', 'q35'], 'max', 'ttyS0'),
}
DONE = 'the command of this machine ended with '

# The first process. The console stays open until what was written has left it.
INIT = '''#!/bin/bash
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin HOME=/root LANG=C.UTF-8 TERM=dumb
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
exec </dev/null >/dev/{console} 2>&1
stty -F /dev/{console} -opost
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -t tracefs tracefs /sys/kernel/tracing
mount -t bpf bpf /sys/fs/bpf
mount -t cgroup2 cgroup2 /sys/fs/cgroup
ln -s /proc/self/fd /dev/fd
mkdir -p {directory}
mount -t ext4 /dev/nvme0n1p2 {directory}
cd {directory}
setsid bash -c {command}
status=$?
cd /
echo
echo '{done}'$status
exec >/dev/null 2>&1
sync
echo o >/proc/sysrq-trigger
sleep 60
'''


def run(*args, **kw):
    subprocess.run(args, check=True, stdout=subprocess.DEVNULL, **kw)


def whole(path, make):
    """path, made by make(a temporary path) when it is not there: whole or not at all."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
            new = pathlib.Path(scratch, 'new')
            make(new)
            new.rename(path)
    return path


# ---- what a machine is made of ----------------------------------------------

def kernel(arch, suite):
    """The suite's cloud kernel. Linux 7 keeps it in a package and a place of its own."""
    def make(new):
        names = [n for n in packages.needed(CACHE, suite, arch, f'linux-image-cloud-{arch}')
                 if re.match(r'linux-(image|binary)-\d', n)]
        with tempfile.TemporaryDirectory(dir=CACHE) as tree:
            packages.unpack(CACHE, suite, arch, tree, names)
            found = [*pathlib.Path(tree, 'boot').glob('vmlinuz-*'),
                     *pathlib.Path(tree, 'usr/lib/modules').glob('*/vmlinuz')]
            shutil.copy(found[0], new)
    return whole(CACHE / 'vm' / f'vmlinuz-{arch}-{suite}', make)


def file_system(directory, image, spare):
    """An ext4 image of the directory's contents, with `spare` bytes of room."""
    size, files = spare, 10000
    for where, _, names in os.walk(directory):
        files += len(names) + 1
        size += sum(4096 + os.lstat(os.path.join(where, n)).st_size for n in names)
    size = size * 11 // 10 + files * 256
    run('mke2fs', '-q', '-F', '-t', 'ext4', '-O', '^has_journal,^resize_inode', '-m', '0',
        '-N', str(files), '-E', 'lazy_itable_init=1', '-d', directory, image, f'{size // 1024 + 4096}k')


def root(arch):
    def make(new):
        with tempfile.TemporaryDirectory(dir=CACHE) as tree:
            tree = pathlib.Path(tree)
            for d in ('bin', 'sbin', 'lib') + (('lib64',) if arch == 'amd64' else ()):
                (tree / 'usr' / d).mkdir(parents=True)
                (tree / d).symlink_to(f'usr/{d}')
            packages.unpack_whole(CACHE, ROOT_SUITE, arch, tree, ROOT_PACKAGES)
            packages.unpack(CACHE, OLDER_SUITE, arch, tree, OLDER_PACKAGES)
            # Of what the packages' scripts would have done, this matters.
            for d in ('proc', 'sys', 'dev', 'run', 'tmp', 'root', 'var/tmp', 'etc'):
                (tree / d).mkdir(parents=True, exist_ok=True)
            for name in ('passwd', 'group'):
                shutil.copy(tree / f'usr/share/base-passwd/{name}.master', tree / 'etc' / name)
            for link, to in (('sh', 'dash'), ('awk', 'mawk')):
                if not (tree / 'usr/bin' / link).is_symlink():
                    (tree / 'usr/bin' / link).symlink_to(to)
            for d in ('doc', 'man', 'info', 'locale'):
                shutil.rmtree(tree / 'usr/share' / d, ignore_errors=True)
            file_system(tree, new, 256 << 20)
    contents = zlib.crc32(' '.join(ROOT_PACKAGES + OLDER_PACKAGES).encode())
    return whole(CACHE / 'vm' / f'root-{arch}-{contents:08x}', make)


def disk(path, parts):
    """A disk of these partitions, each at a multiple of 1 MiB, by a master boot record."""
    sector, entries = 2048, b''
    with open(path, 'wb') as out:
        out.write(bytes(512))
    for part in parts:
        size = -(-part.stat().st_size // (1 << 20)) * 2048
        run('dd', f'if={part}', f'of={path}', 'bs=1M', f'seek={sector // 2048}', 'conv=sparse,notrunc',
            'status=none')
        entries += struct.pack('<B3sB3sII', 0, b'', 0x83, b'', sector, size)
        sector += size
    with open(path, 'r+b') as out:
        out.truncate(sector * 512)
        out.seek(446)
        out.write(entries.ljust(64, b'\0') + b'\x55\xaa')


# ---- a run --------------------------------------------------------------------

def follow(process, out):
    """Passes the machine's words on; the command's status, or None."""
    status = None
    for line in process.stdout:
        line = line.decode('utf-8', 'replace')
        if line.startswith(DONE):
            status = int(line[len(DONE):])
        else:
            out.write(line.rstrip('\r\n') + '\n')
            out.flush()
    return status


def boot(arch, suite, directory, command, at=None, cpu=None, out=sys.stdout, timeout=900):
    """The command's status, run where the directory's copy is: its own name, or at; 124: time is up; 125: the machine went down before it ended."""
    qemu, hardware, default_cpu, console = QEMU[arch]
    at = str(at or pathlib.Path(directory).resolve())
    image = kernel(arch, suite)
    system = root(arch)
    with tempfile.TemporaryDirectory(dir=CACHE) as work:
        work = pathlib.Path(work)
        init = work / 'init'
        init.write_text(INIT.format(console=console, directory=shlex.quote(at),
                                    command=shlex.quote(command), done=DONE))
        init.chmod(0o755)
        shutil.copy(system, work / 'root')
        run('debugfs', '-w', '-R', f'write {init} strata-init', work / 'root', stderr=subprocess.DEVNULL)
        run('debugfs', '-w', '-R', 'set_inode_field strata-init mode 0100755', work / 'root',
            stderr=subprocess.DEVNULL)
        file_system(directory, work / 'share', 256 << 20)
        disk(work / 'disk', [work / 'root', work / 'share'])
        for name in ('root', 'share'):
            (work / name).unlink()
        process = subprocess.Popen(
            [qemu, '-nodefaults', '-no-user-config', '-display', 'none', '-monitor', 'none', '-no-reboot',
             *hardware, '-cpu', cpu or default_cpu, '-accel', 'tcg,thread=multi', '-smp', '2', '-m', '2048',
             '-kernel', image, '-append',
             f'root=/dev/nvme0n1p1 rw rootwait init=/strata-init console={console} loglevel=3 panic=-1 '
             'mitigations=off audit=0', '-serial', 'stdio',
             '-device', 'nvme,serial=disk,drive=disk',
             '-drive', f'if=none,id=disk,format=raw,cache=unsafe,file={work}/disk'],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        late = threading.Timer(timeout, process.send_signal, [signal.SIGKILL])
        late.start()
        try:
            status = follow(process, out)
        finally:
            expired = not late.is_alive()
            late.cancel()
            process.kill()
            process.wait()
    if status is None:
        print(f'machine: {"no end after %d s" % timeout if expired else "it went down"}', file=sys.stderr)
        return 124 if expired else 125
    return status


if __name__ == '__main__':
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    sys.exit(boot(*sys.argv[1:4], shlex.join(sys.argv[4:])))
