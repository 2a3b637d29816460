"""Makes the filters of a compiled policy longer, by instructions that are never
reached: long_filter.py FROM TO COUNT [CODE], whose code is another one then"""
import os.path
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../lib"))
from seal import sealed  # noqa: E402

PROGRAMS, BPF = 11, 12
CODE = int(sys.argv[4]) if len(sys.argv) > 4 else 6
MORE = struct.pack("<HBBI", CODE, 0, 0, 0x7FFF0000)
blob = open(sys.argv[1], "rb").read()
count = int(sys.argv[3])
table, parts = [], {}
for i in range(struct.unpack_from("<I", blob, 20)[0]):
    kind, flags, start, size = struct.unpack_from("<IIII", blob, 32 + 16 * i)
    table.append((kind, flags))
    parts[kind] = bytearray(blob[start : start + size])
longer = bytearray()
for at in range(0, len(parts[PROGRAMS]), 24):
    first, old = struct.unpack_from("<II", parts[PROGRAMS], at + 12)
    struct.pack_into("<II", parts[PROGRAMS], at + 12, len(longer) // 8, count)
    longer += parts[BPF][8 * first : 8 * (first + old)] + MORE * (count - old)
parts[BPF] = longer
new = bytearray(blob[:32]) + bytes(16 * len(table))
for i, (kind, flags) in enumerate(table):
    part = parts[kind]
    entry = (kind, flags, len(new), len(part))
    struct.pack_into("<IIII", new, 32 + 16 * i, *entry)
    new += part + bytes(-len(part) % 8)
struct.pack_into("<I", new, 12, len(new))
open(sys.argv[2], "wb").write(sealed(bytes(new)))
