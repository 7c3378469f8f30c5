#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make.py - makes the corpus: an instance, its Script, a NativeModule with a tree or a vector of code, and a module with a
name section, as in V8 14.6.

    make.py DIRECTORY"""
import pathlib
import struct
import sys

BASE = 0x100000
MODULE = b'\0asm\1\0\0\0' + bytes([0, 16, 4]) + b'name' + bytes([1, 9, 1, 2, 6]) + b'spinny' + bytes(20)


def image(in_tree):
    memory = bytearray(8192)

    def put(at, *words):
        struct.pack_into(f'<{len(words)}Q', memory, at, *words)

    instance, script, map_, foreign, managed, shared, native, bytes_, module, code, vector, node, text = range(512, 512 * 14, 512)
    pc = 0x7000010
    put(0, pc, BASE + instance + 1, 2)
    struct.pack_into('<H', memory, map_ + 12, 300)
    put(instance, 0, BASE + script + 1)
    put(script, BASE + map_ + 1, 0, BASE + text + 1)
    put(script + 80, BASE + foreign + 1)
    put(foreign, 0, BASE + managed)
    put(managed + 24, BASE + shared)
    put(shared, BASE + native)
    put(native + 200, BASE + bytes_)
    put(bytes_, BASE + module, len(MODULE))
    memory[module:module + len(MODULE)] = MODULE
    put(code, BASE + native, 0x7000000)
    put(code + 32, 256)
    struct.pack_into('<i', memory, code + 56, 2)
    head = native + 312
    if in_tree:
        put(head, 0, BASE + node, BASE + node, BASE + node, 1, 0, 0, 0, BASE + vector)
        put(node, 0, BASE + head, 0, 0, 0x7000000, BASE + code)
    else:
        put(head, 0, 0, BASE + head, BASE + head, 0, BASE + vector, BASE + vector + 8, BASE + vector + 8, BASE + vector)
        put(vector, BASE + code)
    return bytes(memory)


for name, in_tree in ('tree', True), ('vector', False):
    (pathlib.Path(sys.argv[1]) / name).write_bytes(image(in_tree))
