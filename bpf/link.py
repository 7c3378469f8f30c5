#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""link.py OUT OBJECT.. - joins BPF objects by libbpf's static linker, as strata does with a script's. What they
take from others must be among them: the linker makes definitions of what is left. One object is copied.

Records of source lines, and the source that they quote, are left out: strata links this object with each script,
and half of the linker's time was theirs. The kernel would take them only of programs whose script has them, too."""
import ctypes
import os
import struct
import sys
import tempfile

# struct btf_ext_header, Linux tools/lib/bpf/libbpf_internal.h: magic, version, flags, hdr_len, then offset and
# length of func_info and of line_info
LINE_INFO_LEN = 20
# Elf64_Ehdr: e_shoff, e_shentsize, e_shnum, e_shstrndx; Elf64_Shdr: sh_name, sh_offset
SHOFF, SHENTSIZE = 40, 58


def section(elf, wanted):
    """The offset of a section in the file."""
    at = struct.unpack_from('<Q', elf, SHOFF)[0]
    size, n, names = struct.unpack_from('<3H', elf, SHENTSIZE)
    offsets = [struct.unpack_from('<I20xQ', elf, at + i * size) for i in range(n)]
    for name, offset in offsets:
        start = offsets[names][1] + name
        if elf[start:elf.index(0, start)] == wanted:
            return offset
    sys.exit(f'link.py: no section {wanted.decode()}')


def without_lines(path):
    with open(path, 'rb') as f:
        elf = bytearray(f.read())
    struct.pack_into('<I', elf, section(elf, b'.BTF.ext') + LINE_INFO_LEN, 0)
    return elf


def check(err, what):
    if err:
        sys.exit(f'link.py: {what}: {os.strerror(-err)}')


def join(out, objects):
    bpf = ctypes.CDLL('libbpf.so.1')
    bpf.bpf_linker__new.restype = ctypes.c_void_p
    bpf.bpf_linker__new.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    bpf.bpf_linker__add_file.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    bpf.bpf_linker__finalize.argtypes = [ctypes.c_void_p]
    linker = bpf.bpf_linker__new(out.encode(), None)
    if not linker:
        sys.exit(f'link.py: {out} cannot be written')
    for path in objects:
        with tempfile.NamedTemporaryFile() as copy:
            copy.write(without_lines(path))
            copy.flush()
            check(bpf.bpf_linker__add_file(linker, copy.name.encode(), None), path)
    check(bpf.bpf_linker__finalize(linker), out)


out, *objects = sys.argv[1:]
if len(objects) > 1:
    join(out, objects)
else:
    with open(out, 'wb') as f:
        f.write(without_lines(objects[0]))
