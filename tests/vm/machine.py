# SPDX-License-Identifier: Apache-2.0
"""machine.py - boots a Debian machine emulated by qemu, and runs one command in it.

    machine.py ARCH SUITE DIRECTORY COMMAND...     ARCH: arm64, amd64

The kernel is the suite's cloud kernel, which has disks and ext4 built in and so needs
neither modules nor an initramfs; another flavour (SUITE:16k) gets both. The root is an image of
unpacked Debian 13 packages (no maintainer script runs), which is kept and never written to. The
machine sees a copy of DIRECTORY under the same name. The command's output is passed on line by line,
and its exit status is machine.py's; nothing else leaves the machine."""
import fcntl
import lzma
import os
import pathlib
import re
import shlex
import shutil
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
    libcapstone5 libprotobuf-c1 libclang1-19 libatomic1 python3 libpython3.13 gdb git
    ruby3.3 perl lua5.3 lua5.4 php8.4-cli'''.split()
# Libraries that a build of Debian 12 or Ubuntu 24.04 needs.
OLDER_SUITE, OLDER_PACKAGES = 'bookworm', ['libcapstone4']

# For each architecture: the emulator, the cheapest machine, and its console. The
# processor max signs return addresses; impdef is a cheap signature.
QEMU = {
    'arm64': ('qemu-system-aarch64', ['-machine', 'virt,gic-version=3'], 'max,pauth-impdef=on', 'ttyAMA0'),
    'amd64': ('qemu-system-x86_64', ['-machine', 'q35'], 'max', 'ttyS0'),
}
# If qemu emulates two CPUs of amd64 at once, one may run an instruction of the kernel while the other patches it, and
# find half of it: one boot in fifty, and one run in ten, ended in "Oops: int3", or without a message. If the CPUs take
# turns, that cannot happen; a run takes 1.0 to 1.2 times as long.
THREADS = {'arm64': 'multi', 'amd64': 'single'}
# On a busy host the emulated timer may not tick while the kernel tries it, and the kernel would give up.
KERNEL = {'amd64': 'no_timer_check'}
BEGUN = 'this machine has booted'
DONE = 'the command of this machine ended with '
BOOT_LIMIT = 180  # seconds; a boot takes 4 to 10, and several times as long on a busy host

# The first process. The disks are name spaces of one controller, so that the kernel finds them
# together, under any name: the root is the first, the share is the second. The machine is
# stopped when its last line has arrived.
INIT = r'''#!/bin/bash
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin HOME=/root LANG=C.UTF-8 TERM=dumb
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
exec </dev/null >/dev/console 2>&1
stty -F /dev/console -opost
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -t tracefs tracefs /sys/kernel/tracing
mount -t bpf bpf /sys/fs/bpf
mount -t cgroup2 cgroup2 /sys/fs/cgroup
ln -s /proc/self/fd /dev/fd
until [ "$disk" ] || [ $SECONDS -gt 60 ]; do
    for nsid in /sys/block/nvme*/nsid; do
        [ "$(<$nsid)" = 2 ] && disk=/dev/${nsid:11:-5}
    done
done
mount -t ext4 "$disk" /share || dmesg | tail -n 30
directory=$(</share/.machine/directory)
mkdir -p "$directory"
mount --bind /share "$directory"
cd "$directory"
echo 'BEGUN'
setsid bash .machine/command
status=$?
cd /
echo
echo 'DONE'$status
sleep 60
'''.replace('BEGUN', BEGUN).replace('DONE', DONE)
LABEL = 0x73747261 # of the root's disk


def run(*args, **kw):
    subprocess.run(args, check=True, stdout=subprocess.DEVNULL, **kw)


def whole(path, make):
    """Returns the path. If it does not exist, make(a temporary path) makes it: completely or not at all, and only once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(f'{path}.lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
                new = pathlib.Path(scratch, 'new')
                make(new)
                new.rename(path)
    return path


# ---- the parts of a machine -------------------------------------------------

def kernel(arch, suite):
    """Returns the suite's cloud kernel, or that of SUITE:FLAVOUR, and the initramfs that it needs to find its
    root, or None."""
    suite, _, flavour = suite.partition(':')
    package = f'linux-image-{arch}-{flavour}' if flavour else f'linux-image-cloud-{arch}'
    path = CACHE / 'vm' / f'vmlinuz-{arch}-{suite}{flavour and "-" + flavour}'
    first = pathlib.Path(f'{path}.initrd')

    # Since Linux 7 it is in a separate package and another place.
    def make(new):
        names = [n for n in packages.needed(CACHE, suite, arch, package)
                 if re.match(r'linux-(image|binary|modules)-\d', n)]
        with tempfile.TemporaryDirectory(dir=CACHE) as tree:
            tree = pathlib.Path(tree)
            packages.unpack(CACHE, suite, arch, tree, names)
            found = [*tree.glob('boot/vmlinuz-*'), *tree.glob('usr/lib/modules/*/vmlinuz')]
            if flavour:
                make_first(arch, suite, tree, pathlib.Path(f'{first}.new'))
                pathlib.Path(f'{first}.new').rename(first)
            shutil.copy(found[0], new)
    return whole(path, make), first if flavour else None


FIRST = r'''#!/bin/busybox sh
mount() { /bin/busybox mount "$@"; }
/bin/busybox mkdir -p /proc /sys /dev /new
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in /*.ko; do /bin/busybox insmod $module; done
until mount -t ext4 $disk /new 2>/dev/null; do
    for nsid in /sys/block/nvme*/nsid; do
        [ "$(/bin/busybox cat $nsid)" = 1 ] && disk=${nsid#/sys/block/} disk=/dev/${disk%/nsid}p1
    done
done
exec /bin/busybox switch_root /new /strata-init
'''


def needed_modules(tree, wanted):
    """Returns the paths of these modules, after those of the modules that they need. A section of a module
    has its name and its needs as words."""
    paths = {p.name.partition('.')[0].replace('-', '_'): p for p in tree.glob('usr/lib/modules/*/kernel/**/*.ko*')}
    order = []

    def add(name):
        if name not in paths or paths[name] in order:
            return # built in
        for needs in re.findall(rb'\0depends=([^\0]*)', module(paths[name])):
            for need in needs.decode().split(','):
                add(need.replace('-', '_'))
        order.append(paths[name])
    for name in wanted:
        add(name)
    return order


def module(path):
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == '.xz' else data


def make_first(arch, suite, tree, path):
    """Makes an initramfs in cpio's format "newc": a shell and the modules of the root's disk."""
    packages.unpack(CACHE, suite, arch, tree / 'busybox', ['busybox-static'])
    files = [('init', 0o100755, FIRST.encode()), ('bin', 0o40755, b''),
             ('bin/busybox', 0o100755, next(tree.glob('busybox/**/bin/busybox')).read_bytes())]
    for n, found in enumerate(needed_modules(tree, ('nvme', 'crc32c_generic', 'ext4'))):
        files.append((f'{n:02}.ko', 0o100644, module(found)))
    with open(path, 'wb') as out:
        for n, (name, mode, data) in enumerate([*files, ('TRAILER!!!', 0, b'')], 1):
            fields = (n, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
            out.write(b'070701' + b''.join(b'%08X' % f for f in fields) + name.encode() + b'\0')
            out.write(bytes(-out.tell() % 4) + data)
            out.write(bytes(-out.tell() % 4))


def file_system(directory, image, spare, offset=0):
    """Makes an ext4 image of the directory's contents, with `spare` free bytes. The image begins at
    `offset` in the file."""
    size, files = spare, 10000
    for where, _, names in os.walk(directory):
        files += len(names) + 1
        size += sum(4096 + os.lstat(os.path.join(where, n)).st_size for n in names)
    size = size * 11 // 10 + files * 256
    run('mke2fs', '-q', '-F', '-t', 'ext4', '-O', '^has_journal,^resize_inode', '-m', '0',
        '-N', str(files), '-E', f'lazy_itable_init=1,offset={offset}', '-d', directory, image,
        f'{size // 1024 + 4096}k')


def label(image, first):
    """Writes a master boot record with one partition, which begins there: the only label of disks that Linux
    always knows."""
    size = os.stat(image).st_size // 512 - first
    entry = struct.pack('<B3sB3sII', 0, b'', 0x83, b'', first, size)
    with open(image, 'r+b') as out:
        out.seek(440)
        out.write(struct.pack('<IH', LABEL, 0) + entry.ljust(64, b'\0') + b'\x55\xaa')


def make_root(arch, tree):
    for d in ('bin', 'sbin', 'lib') + (('lib64',) if arch == 'amd64' else ()):
        (tree / 'usr' / d).mkdir(parents=True)
        (tree / d).symlink_to(f'usr/{d}')
    packages.unpack_whole(CACHE, ROOT_SUITE, arch, tree, ROOT_PACKAGES)
    packages.unpack(CACHE, OLDER_SUITE, arch, tree, OLDER_PACKAGES)
    # The necessary steps of the packages' scripts.
    for d in ('proc', 'sys', 'dev', 'run', 'tmp', 'root', 'share', 'var/tmp', 'etc'):
        (tree / d).mkdir(parents=True, exist_ok=True)
    for name in ('passwd', 'group'):
        shutil.copy(tree / f'usr/share/base-passwd/{name}.master', tree / 'etc' / name)
    for link, to in (('sh', 'dash'), ('awk', 'mawk')):
        if not (tree / 'usr/bin' / link).is_symlink():
            (tree / 'usr/bin' / link).symlink_to(to)
    for d in ('doc', 'man', 'info', 'locale'):
        shutil.rmtree(tree / 'usr/share' / d, ignore_errors=True)
    (tree / 'strata-init').write_text(INIT)
    (tree / 'strata-init').chmod(0o755)


def root(arch):
    def make(new):
        with tempfile.TemporaryDirectory(dir=CACHE) as tree:
            make_root(arch, pathlib.Path(tree))
            file_system(tree, new, 256 << 20, offset=1 << 20)
        label(new, (1 << 20) // 512)
    contents = zlib.crc32((' '.join(ROOT_PACKAGES + OLDER_PACKAGES) + INIT).encode())
    return whole(CACHE / 'vm' / f'root-{arch}-{contents:08x}', make)


# ---- a run --------------------------------------------------------------------

def follow(process, out, begun):
    """Passes on the machine's output; returns the command's status, or None. Sets `begun` when the machine has booted."""
    for line in process.stdout:
        line = line.decode('utf-8', 'replace')
        if line.startswith(BEGUN):
            begun.set()
            continue
        if line.startswith(DONE):
            return int(line[len(DONE):])
        out.write(line.rstrip('\r\n') + '\n')
        out.flush()
    return None


def share(directory, image, at, command, work):
    """Makes an image with a copy of the directory, and with the command to run there."""
    file_system(directory, image, 256 << 20)
    orders = ['mkdir .machine', 'cd .machine']
    for name, text in (('directory', str(at)), ('command', command)):
        (work / name).write_text(text + '\n')
        orders.append(f'write {work / name} {name}')
    run('debugfs', '-w', '-f', '-', image, input='\n'.join(orders).encode(), stderr=subprocess.DEVNULL)


def boot(arch, suite, directory, command, at=None, cpu=None, out=sys.stdout, timeout=900):
    """Runs the command in the copy of the directory, which has the directory's own name or `at`. Returns the
    command's status; 124 if the time is up; 125 if the machine did not boot, or went down before the command ended."""
    qemu, hardware, default_cpu, console = QEMU[arch]
    (image, first), system = kernel(arch, suite), root(arch)
    with tempfile.TemporaryDirectory(dir=CACHE) as work:
        work = pathlib.Path(work)
        share(directory, work / 'share', at or pathlib.Path(directory).resolve(), command, work)
        process = subprocess.Popen(
            [qemu, '-nodefaults', '-no-user-config', '-display', 'none', '-monitor', 'none', '-no-reboot',
             *hardware, '-cpu', cpu or default_cpu, '-accel', f'tcg,thread={THREADS[arch]}', '-smp', '2', '-m', '2048',
             '-kernel', image, *(['-initrd', first] if first else []), '-append',
             f'root=PARTUUID={LABEL:08x}-01 rw rootwait init=/strata-init console={console} loglevel=3 '
             f'panic=-1 mitigations=off audit=0 {KERNEL.get(arch, "")}', '-serial', 'stdio',
             '-device', 'nvme,id=disks,serial=strata', '-device', 'nvme-ns,bus=disks,nsid=1,drive=root',
             '-device', 'nvme-ns,bus=disks,nsid=2,drive=share',
             '-drive', f'if=none,id=root,format=raw,snapshot=on,file={system}',
             '-drive', f'if=none,id=share,format=raw,cache=unsafe,file={work}/share'],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=dict(os.environ, TMPDIR=str(work)))
        begun, ended, said = threading.Event(), threading.Event(), []

        def watch():
            if not begun.wait(min(BOOT_LIMIT, timeout)):
                said.append((125, f'it did not boot in {BOOT_LIMIT} s'))
            elif not ended.wait(timeout):
                said.append((124, f'no end after {timeout} s'))
            process.kill()
        late = threading.Thread(target=watch)
        late.start()
        try:
            status = follow(process, out, begun)
        finally:
            ended.set()
            begun.set()
            late.join()
            process.wait()
    if status is None:
        status, why = said[0] if said else (125, 'it went down')
        out.write(f'machine: {why}\n')
    return status


if __name__ == '__main__':
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    sys.exit(boot(*sys.argv[1:4], shlex.join(sys.argv[4:])))
