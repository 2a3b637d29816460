"""How deep the stack of a static program can get, at most.

    stack.py PROGRAM

It reads the machine code as it was linked, with libc in it: what each function
takes of the stack, and whom it calls.  Calls through pointers are those of the
table below.  Held is that the deepest way fits into each of `STACKS`, that no
function calls itself by any way but those in `LOOPS`, that nothing takes a number
of bytes that is found when it runs (alloca, arrays of variable size), and that the
table is complete: each function that calls through a pointer has a row,
and each function whose address is taken is in some row.
"""

import re
import struct
import subprocess
import sys

# Of the first stack, which is 8 MiB where nobody has said otherwise.
BOUND = 704 << 10

# Who calls through a pointer: whom, as a regular expression.  What is in no row
# for its callees calls nothing there: of stdio there is no file but its table.
POINTERS = {
    # format/, the tables of the loader
    "sbx_sort": r"record_before",
    "record_before": r"gives_more",
    "sbx_verify": r"check_\w+",
    "apply_option": r"set_\w+|add_\w+|help|version",
    "options_parse": r"set_\w+|add_\w+|help|version",
    "make_file": r"fill_\w+",
    "answer": r"answer_[A-Z]+",
    "diagnosis_find": r"is_any|is_bound_to|is_place|is_standing",
    "hear": r"is_any|is_bound_to|is_place|is_standing",
    "be_command": r"become_command",
    "refuse": r"refused",
    "ending_limits": r"put_limit|say_limit",
    # runtime/inspect/
    "print_denied": r"is_kept|is_hidden",
    "print_places": r"is_kept|is_written|is_run|is_read_only|is_hidden",
    "each_line": r"print_line|put_line",
    "each_name": r"print_line|put_line",
    "each_endpoint": r"print_line|put_line",
    "each_proxy": r"print_line|put_line",
    "in_child": r"connect_\w+|make_subvolume|mount_here|open_in_child|"
                r"open_stage|outlive|send_udp|signal_outside|trace|"
                r"unshare_user|use_\w+",
    "probes_run": r"grants_\w+",
    # musl
    "__libc_start_main": r"libc_start_main_stage2",
    "libc_start_main_stage2": r"main",
    "__libc_start_init": r"_init|frame_dummy",
    "__libc_exit_fini": r"_fini|__do_global_dtors_aux",
    "__clone": r"open_in_view|checker|command_main|first_command",
    "__synccall": r"do_setrlimit",
    "handler": r"do_setrlimit",
    "register_tm_clones": r"",
    "deregister_tm_clones": r"",
    "__clock_gettime": r"cgt_init",
    "cgt_init": r"",
    "_pthread_cleanup_pop": r"cleanup|dummy",
    "__uflow": r"",
    "__toread": r"",
    "close_file": r"",
}

# Where a stack begins, and how large it is.  Signals come on any of them.
STACKS = {
    "_start": BOUND,
    "open_in_view": 32 << 10,  # runtime/session/join.c
    "command_main": 256 << 10,  # the same
    "first_command": 256 << 10,  # runtime/watch/first.c
}
SIGNAL_FRAME = 4096
HANDLERS = r"interrupt|handler|__restore_rt|do_nothing"

# What calls itself, and how many calls there can be at a time.
LOOPS = {
    "json_bytes": 2,  # a key is written like a text, without a key
    "in_child": 2,  # runtime/inspect/probes.c: a grandchild
    "clear": 2,  # runtime/inspect/clean.c: what lies deeper is moved up
    "look_into": 17,  # runtime/watch/look.c: LOOK_MAX_DEPTH
    "look_matches": 17,  # the same
    "look_others": 17,  # the same
    "walk_directory": 129,  # runtime/bind/glob.c: GLOB_MAX_DEPTH
    "inet_pton": 2,  # an IPv4 address at the end of an IPv6 one
    "refuse": 2,  # what is told of a refusal is told once: runtime/base/out.c
    "faccessat": 2,  # musl: its clone only asks, and makes none
}

INSN = re.compile(r"^\s*[0-9a-f]+:\s+(?:(?:addr32|notrack|bnd|lock|rep\w*)\s+)*"
                  r"(\S+)\s*(.*)$")
# The address 0 is that of a function which the C library might have.
TARGET = re.compile(r"^([1-9a-f][0-9a-f]*) <([^>+]+)(\+0x[0-9a-f]+)?>")


class Function:
    def __init__(self, address):
        self.address = address
        self.frame = 8  # the return address
        self.calls = set()
        self.pointer = False
        self.unbounded = None


def plain(name):
    """The name in the source of what the compiler has made several of."""
    return re.sub(r"\.(constprop|isra|part|cold)(\.\d+)*", "", name)


def output_of(*command, check=True):
    return subprocess.run(command, check=check, capture_output=True,
                          text=True).stdout


def taken(op, arg):
    """How many bytes an instruction takes of the stack; None: who knows."""
    size = re.match(r"\$(0x[0-9a-f]+),%rsp$", arg)
    if op == "and":
        return 64  # to align
    if size is None:
        # The end of a function that has a frame pointer.
        return 0 if re.search(r"\(%r[sb]p\)", arg) else None
    number = int(size.group(1), 16)
    negative = number >> 63 != 0
    if negative:
        number = (1 << 64) - number
    return number if (op == "sub") != negative else 0


def read_insn(name, function, op, arg, line):
    if op.startswith("push"):
        function.frame += 8
    elif arg.endswith(",%rsp") and op in ("sub", "lea", "and", "add"):
        size = taken(op, arg)
        function.frame += size or 0
        if size is None:
            function.unbounded = line.strip()
    elif op.startswith(("call", "j")):
        target = TARGET.match(arg)
        if arg.startswith("*"):
            # A jump through a table by an index is a switch.
            function.pointer |= not re.search(r"\(,%\w+,8\)", arg) or \
                op.startswith("call")
        elif target and (target.group(2) != name or op.startswith("call")):
            function.calls.add(target.group(2))


def read_code(program):
    functions = {}
    name = None
    for line in output_of("objdump", "-d", "-w", "--no-show-raw-insn",
                          program).split("\n"):
        head = re.match(r"^([0-9a-f]+) <([^>]+)>:$", line)
        insn = INSN.match(line)
        if head:
            name = head.group(2)
            functions[name] = Function(int(head.group(1), 16))
        elif name and insn:
            read_insn(name, functions[name], *insn.groups(), line)
    return functions


def numbers_in_code(program):
    """All numbers of instructions, and those of them that may be addresses of
    functions."""
    numbers, addresses = set(), set()
    for line in output_of("objdump", "-d", "-w", "--no-show-raw-insn",
                          program).split("\n"):
        insn = INSN.match(line)
        found = {int(number[0] or number[1], 16) for number in
                 re.findall(r"\$0x([0-9a-f]+)|# ([0-9a-f]+) <",
                            insn.group(2) if insn else "")}
        numbers |= found
        # What masks or compares is a number: O_TMPFILE is where code may lie.
        if found and not insn.group(1).startswith(
                ("call", "j", "and", "or", "xor", "test", "cmp")):
            addresses |= found
    return numbers, addresses


def words_of_data(program):
    """The aligned words, as address and value."""
    # A program need not have all of these sections.
    for line in output_of("objdump", "-s", "-j", ".rodata", "-j", ".data",
                          "-j", ".data.rel.ro", "-j", ".init_array", "-j",
                          ".fini_array", program, check=False).split("\n"):
        words = re.match(r"^ ([0-9a-f]+) ((?:[0-9a-f]{2,8} ?){1,4})", line)
        data = bytes.fromhex(words.group(2).replace(" ", "")) if words else b""
        for at in range(0, len(data) - 7, 8):
            yield (int(words.group(1), 16) + at,
                   struct.unpack_from("<Q", data, at)[0])


def addresses_taken(program, functions):
    """Functions whose address stands in an instruction or in the data."""
    starts = {function.address: name for name, function in functions.items()}
    numbers, taken = numbers_in_code(program)
    words = list(words_of_data(program))
    numbers.update(value for _, value in words)
    # The end of a string and "-D" may read like an address; but nobody needs
    # that of a byte within a pointer.
    taken.update(value for at, value in words if value in starts and
                 numbers.isdisjoint(range(at + 1, at + 8)))
    return {starts[address] for address in taken if address in starts}


class Walk:
    """Depths, with what calls itself taken together."""

    def __init__(self, functions):
        self.functions = functions
        self.faults = []
        self.known = {}
        self.callees = {name: self.find_callees(name) for name in functions}
        self.reached = {}

    def find_callees(self, name):
        function = self.functions[name]
        found = set(function.calls)
        if function.pointer and plain(name) not in POINTERS:
            self.faults.append(f"{name} calls through a pointer, and has no "
                               "row")
        if plain(name) in POINTERS:
            row = re.compile(POINTERS[plain(name)])
            found |= {other for other in self.functions
                      if row.fullmatch(plain(other))}
        for other in sorted(found - set(self.functions)):
            self.faults.append(f"{other} is not in the program")
        return found & set(self.functions)

    def reach(self, name):
        """What a function calls, and what that calls."""
        if name not in self.reached:
            found, open_ = set(), [name]
            while open_:
                new = self.callees[open_.pop()] - found
                found |= new
                open_.extend(new)
            self.reached[name] = found
        return self.reached[name]

    def loop_of(self, name):
        return sorted(other for other in self.reach(name)
                      if name in self.reach(other))

    def depth(self, name):
        if name in self.known:
            return self.known[name]
        loop = self.loop_of(name)
        members = loop or [name]
        times = max((LOOPS.get(plain(one), 0) for one in loop), default=1)
        if times == 0:
            self.faults.append("recursion: " + ", ".join(loop))
        for one in members:
            if self.functions[one].unbounded:
                self.faults.append(f"{one}: {self.functions[one].unbounded}")
        below = {callee for one in members for callee in self.callees[one]}
        deepest = max((self.depth(callee) for callee in
                       sorted(below - set(members))), default=(0, []))
        size = times * sum(self.functions[one].frame for one in members)
        way = [f"{'+'.join(members)} {size}"] + deepest[1]
        for one in members:
            self.known[one] = (size + deepest[0], way)
        return self.known[name]


def main(program):
    functions = read_code(program)
    walk = Walk(functions)
    rows = "|".join([row for row in POINTERS.values() if row] +
                    list(STACKS) + [HANDLERS])
    for name in sorted(addresses_taken(program, functions)):
        if not re.fullmatch(rows, plain(name)):
            walk.faults.append(f"the address of {name} is taken, and it is in "
                               "no row")
    signals = max((walk.depth(name)[0] for name in functions
                   if re.fullmatch(HANDLERS, plain(name))), default=0)
    for name, bound in STACKS.items():
        if name not in functions:
            walk.faults.append(f"there is no {name}")
            continue
        size, way = walk.depth(name)
        print(f"{name}: {size} of {bound} bytes, and {signals} for a signal: " +
              ", ".join(way))
        # The kernel's frame for a signal, with what AVX-512 has.
        if size + signals + SIGNAL_FRAME > bound:
            walk.faults.append(f"{name} needs more than {bound} bytes")
    for fault in sorted(set(walk.faults)):
        print(f"fault: {fault}")
    return 1 if walk.faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
