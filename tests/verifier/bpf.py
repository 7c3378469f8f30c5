# SPDX-License-Identifier: Apache-2.0
"""bpf.py - reads the functions of a BPF ELF file, for checks against the verifier's limits."""
import struct

FRAME = 10  # the register


def cut(fmt, data, at):
    return struct.unpack_from('<' + fmt, data, at)


class Object:
    """A 64-bit little-endian ELF file; it is trusted, since the build made it."""

    def __init__(self, path):
        self.data = open(path, 'rb').read()
        shoff, = cut('Q', self.data, 40)
        size, n, names = cut('HHH', self.data, 58)
        self.sections = [cut('IIQQQQIIQQ', self.data, shoff + i * size) for i in range(n)]
        self.names = names
        self.functions = {}  # name: own bytes of stack, names of its callees
        self.code = {}       # name: its instructions
        self.symbols = self.read_symbols()
        for i, section in enumerate(self.sections):
            if section[1] == 1 and section[2] & 4:  # SHT_PROGBITS, SHF_EXECINSTR
                self.read_code(i, section)

    def bytes_of(self, section):
        return self.data[section[4]:section[4] + section[5]]

    def string(self, table, at):
        data = self.bytes_of(table)
        return data[at:data.index(b'\0', at)].decode()

    def read_symbols(self):
        """Yields (name, kind, section, value, size) of each symbol."""
        out = []
        for section in self.sections:
            if section[1] == 2:  # SHT_SYMTAB
                data, strings = self.bytes_of(section), self.sections[section[6]]
                for at in range(0, len(data), 24):
                    name, info, _, index, value, size = cut('IBBHQQ', data, at)
                    out.append((self.string(strings, name), info & 15, index, value, size))
        return out

    def relocations(self, index):
        """Returns {offset in the section: symbol}."""
        out = {}
        for section in self.sections:
            if section[1] == 9 and section[7] == index:  # SHT_REL
                data = self.bytes_of(section)
                for at in range(0, len(data), 16):
                    offset, info = cut('QQ', data, at)
                    out[offset] = self.symbols[info >> 32]
        return out

    def read_code(self, index, section):
        code, places = self.bytes_of(section), self.relocations(index)
        starts = {s[3]: s for s in self.symbols if s[1] == 2 and s[2] == index}
        for start, (name, _, _, _, size) in starts.items():
            self.code[name] = [cut('BBhi', code, at) for at in range(start, start + size, 8)]
            self.functions[name] = self.read_function(code, start, size, places, index)

    def at(self, index, value):
        return next(s[0] for s in self.symbols if s[1] == 2 and s[2:4] == (index, value))

    def read_function(self, code, start, size, places, index):
        deepest, calls, of_frame = 0, set(), set()
        for at in range(start, start + size, 8):
            op, regs, off, imm = cut('BBhi', code, at)
            dst, src = regs & 15, regs >> 4
            kind = op & 7
            # Loads and stores by the frame register, and copies of it that are moved down.
            if (kind == 1 and src == FRAME) or (kind in (2, 3) and dst == FRAME):
                deepest = max(deepest, -off)
            if op == 0x07 and dst in of_frame:
                deepest = max(deepest, -imm)
            if op == 0xbf and src == FRAME:
                of_frame.add(dst)
            elif kind in (0, 1, 4, 7):
                of_frame.discard(dst)
            target = places.get(at)
            if op == 0x85 and src == 1:  # BPF_PSEUDO_CALL
                if target is None:
                    calls.add(self.at(index, at + 8 + imm * 8))
                else:
                    calls.add(target[0] if target[1] != 3 else self.at(target[2], (imm + 1) * 8))
            if op == 0x18 and target is not None and target[1] in (2, 3):  # a callback
                called = target[0] if target[1] == 2 else None
                section = self.sections[target[2]] if target[1] == 3 else None
                if section and section[2] & 4:
                    called = self.at(target[2], imm)
                if called:
                    calls.add(called)
        return deepest, calls
