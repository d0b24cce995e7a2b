# SPDX-License-Identifier: MIT
"""Shows the tasks of a corolane process in gdb, live or from its core file.

  (gdb) source tools/gdb/corolane.py
  (gdb) corolane tasks     lists every task: id, state, what it waits for, name, spawn site
  (gdb) corolane stackless counts the stackless coroutines by where they wait, and what for
  (gdb) corolane bt ID     prints the stack of a task, suspended or not; options of bt may follow
  (gdb) corolane core FILE writes a core file with all stacks; generate-core-file by itself omits
                           everything after the first guard of a stack in a mapping

The script reads the memory of the process and runs no code in it. It needs x86-64 and debug
information of the coroutine module, optimised or not.

Every scheduler is on the list SchedulerEntry::newest_ and has a list of its tasks. The saved
registers of a waiting task are at TaskControl::frame; those of a task that yielded, in its entry of
the ready ring; those of a task that runs a nested scheduler, in the loop_context_ of that
scheduler. A running task has them in a thread.
"""

import collections
import contextlib
import itertools
import re
import struct
from typing import NamedTuple

import gdb
import gdb.unwinder

NAMESPACE = "corolane::coroutine::"
FRAMEWORK = "corolane::framework::detail::"

# jump_fcontext of Boost.Context saves at the frame, in this order: the control words of SSE and
# x87, a canary if there is one, then these registers.
SAVED_REGISTERS = ("r12", "r13", "r14", "r15", "rbx", "rbp", "rip")
SAVED_REGISTERS_OFFSET = 0x10
SAVED_FRAME_SIZE = 0x48


class Task(NamedTuple):
    id: int
    name: str
    state: str
    waits_for: str
    site: str
    stack: range
    frame: int  # The address of the saved registers; 0: in a thread, or none.
    object: str  # The call that it serves; empty outside of objects.


def memory(address, size):
    return bytes(gdb.selected_inferior().read_memory(address, size))


def printable(words):
    """The text on one line, without characters that control a terminal."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in words)


def text(pointer):
    """A C string as text; empty for null."""
    return printable(pointer.string(errors="replace")) if int(pointer) != 0 else ""


def base_offset(derived, base_name):
    """The offset in bytes of the direct base with that name in `derived`."""
    for field in derived.fields():
        if field.is_base_class and field.name.replace(NAMESPACE + "detail::", "") == base_name:
            return field.bitpos // 8
    raise gdb.GdbError(f"{derived.name} has no base {base_name}: the script is of another version")


def schedulers():
    """Every scheduler of the process, oldest first."""
    try:
        entry = gdb.parse_and_eval(f"'{NAMESPACE}detail::SchedulerEntry::newest_'")
    except gdb.error as error:
        raise gdb.GdbError(f"no debug information of corolane here: {error}") from error
    found = []
    while int(entry) != 0:
        found.append(entry["scheduler_"].dereference())
        entry = entry["older_"]
    return found[::-1]


def ready_frames(ring):
    """Maps the control block of each task in a ready ring to its saved frame."""
    head, tail, mask = (int(ring[field]) for field in ("head_", "tail_", "mask_"))
    entry_size = gdb.lookup_type(f"{NAMESPACE}detail::ReadyRing::Entry").sizeof
    # A unique_ptr, whatever its library calls the pointer inside.
    (entries,) = struct.unpack("<Q", memory(int(ring["entries_"].address), 8))
    ring_bytes = memory(entries, mask + entry_size)
    frames = {}
    while head != tail:
        owner, frame = struct.unpack_from("<QQ", ring_bytes, head & mask)
        if frame & 1 == 0:  # The rest are stackless coroutines.
            frames[owner] = frame
        head = (head + entry_size) % 2**64
    return frames


def control_blocks(scheduler):
    """The control block of each task, oldest first."""
    task_type = gdb.lookup_type(f"{NAMESPACE}detail::TaskControl")
    offset = base_offset(task_type, "ListNode<AllTasksTag>")
    head = scheduler["all_tasks_"]["head_"]
    node = head["next_"]
    while int(node) != int(head.address):
        yield gdb.Value(int(node) - offset).cast(task_type.pointer()).dereference()
        node = node["next_"]


def stack_of(top, size_class):
    """The address range of a stack of the pool: see StackSlot and StackPool::stack_at()."""
    page = 4096
    end = -(-top // page) * page
    return range(end - page - (16384 << size_class), top)


def call_chain_key():
    """The key of the call chain among the locals of a task; 0 in a program without objects."""
    try:
        place = gdb.parse_and_eval(f"&'{FRAMEWORK}(anonymous namespace)::call_chain'")
    except gdb.error:
        return 0
    return int(place)


def object_of(control, top):
    """The call that the task serves; empty outside of objects."""
    key = call_chain_key()
    if key == 0 or not control["has_locals"]:
        return ""
    chain = f"{NAMESPACE}TaskLocal<{FRAMEWORK}CallChain, ({NAMESPACE}Inheritance)1>::Node"
    node = top["current_locals"]["first_"]
    while int(node) != 0 and int(node["key"]) != key:
        node = node["next"]
    if int(node) == 0:
        return ""
    frame = node.cast(gdb.lookup_type(chain).pointer())["value"]["frame_"]
    if int(frame) == 0:
        return ""
    own_id = frame["id_"]
    size = int(own_id["_M_string_length"])
    number = memory(int(own_id["_M_dataplus"]["_M_p"]), size).decode(errors="replace")
    return f'{text(frame["method_"])}("{printable(number)}")'


def read_task(control, ready, loop_frames):
    """Reads a task. `ready` has the frames in the ready ring, `loop_frames` those of all loops."""
    stack = stack_of(int(control["stack_top"]), int(control["stack_size_class"]))
    top_type = gdb.lookup_type(f"{NAMESPACE}detail::TaskTop")
    top = gdb.Value(stack.stop - top_type.sizeof).cast(top_type.pointer()).dereference()
    state = str(control["state"]).rpartition("::")[2]
    frame = 0
    if state == "suspended":
        frame = int(control["frame"])
    elif state == "ready":
        frame = ready.get(int(control.address), 0)
        if frame == 0:
            state = "running"
            frame = next((frame for frame in loop_frames if frame in stack), 0)
        elif not control["has_begun"]:
            state, frame = "new", 0
    if state == "running" and thread_on(stack) is not None:
        frame = 0
    size = int(top["name_size"])
    name = printable(memory(int(top["name_text"].address), size).decode(errors="replace"))
    site = top["site"]["_M_impl"]
    return Task(
        id=int(top["id"]),
        name=name,
        state=state,
        waits_for=text(control["waiting_for"]),
        site=f"{text(site['_M_file_name'])}:{int(site['_M_line'])}",
        stack=stack,
        frame=frame,
        object=object_of(control, top),
    )


def all_tasks():
    """Yields a list of tasks for each scheduler."""
    found = schedulers()
    loop_frames = [int(scheduler["loop_context_"]["frame"]) for scheduler in found]
    for scheduler in found:
        ready = ready_frames(scheduler["ready_"]) | ready_frames(scheduler["control_"])
        yield [read_task(control, ready, loop_frames) for control in control_blocks(scheduler)]


@contextlib.contextmanager
def selection_kept():
    """Restores the selected thread and frame afterwards."""
    thread, level = gdb.selected_thread(), gdb.selected_frame().level()
    try:
        yield
    finally:
        thread.switch()
        gdb.execute(f"frame level {level}", to_string=True)


def thread_on(stack):
    """The thread whose stack pointer is in that range, or None."""
    with selection_kept():
        for thread in gdb.selected_inferior().threads():
            thread.switch()
            if int(gdb.newest_frame().read_register("rsp")) in stack:
                return thread
    return None


class FrameId:
    def __init__(self, sp, pc):
        self.sp = sp
        self.pc = pc


class SuspendedUnwinder(gdb.unwinder.Unwinder):
    """Makes a saved frame look like the caller of the newest frame of the selected thread."""

    def __init__(self):
        super().__init__("corolane suspended task")
        self.enabled = False
        self.newest_sp = 0
        self.frame = 0

    def __call__(self, pending_frame):
        if int(pending_frame.read_register("rsp")) != self.newest_sp:
            return None
        word = gdb.lookup_type("unsigned long")
        # The stack pointer of the saved frame: gdb distrusts callers that lie deeper than their
        # callees.
        sp = gdb.Value(self.frame).cast(word)
        info = pending_frame.create_unwind_info(FrameId(sp, pending_frame.read_register("rip")))
        saved = memory(self.frame, SAVED_FRAME_SIZE)[SAVED_REGISTERS_OFFSET:]
        for name, value in zip(SAVED_REGISTERS, struct.unpack("<7Q", saved)):
            info.add_saved_register(name, gdb.Value(value).cast(word))
        after_return = gdb.Value(self.frame + SAVED_FRAME_SIZE).cast(word)
        info.add_saved_register("rsp", after_return)
        return info

    @contextlib.contextmanager
    def stack_from(self, frame):
        """Shows the saved frame inside a with; yields the number of the thread's own frames."""
        with selection_kept():
            self.frame = frame
            self.newest_sp = int(gdb.newest_frame().read_register("rsp"))
            self.enabled = True
            gdb.invalidate_cached_frames()
            try:
                own = gdb.newest_frame()
                while own.type() == gdb.INLINE_FRAME:
                    own = own.older()
                yield own.level() + 1
            finally:
                self.enabled = False
                gdb.invalidate_cached_frames()


unwinder = SuspendedUnwinder()
gdb.unwinder.register_unwinder(None, unwinder, replace=True)


def without_newest(backtrace, count):
    """The output of bt without its first `count` frames."""
    lines = []
    level = -1
    for line in backtrace.splitlines():
        if number := re.match(r"#(\d+) +", line):
            level = int(number[1]) - count
            line = f"#{level:<3d}{line[number.end():]}"
        if level >= 0:
            lines.append(line)
    return "\n".join(lines)


# The rule is that of coroutine/inspect/folded_frames.h.
RUNTIME = re.compile(
    r"corolane::(?:(?:coroutine|net|rpc|framework|config|detail)::|[A-Z]|\w*(?![\w:]))"
)
RUNTIME_FILE = re.compile(r"(?:^|/)(?:coroutine|rpc|framework)/(?:[a-z_]+/)*[a-z_]+\.(?:h|cc):")


class StackFrame:
    """A frame of a backtrace, with the lines that tell it."""

    def __init__(self, line):
        self.lines = [line]
        call = re.sub(r"^#\d+ +(?:0x[0-9a-f]+ in )?", "", line)
        place = re.search(r" at (\S+:\d+)$", line)
        # gdb names the function of a lambda without its namespace: the file tells.
        is_lambda = call.startswith(("operator() (", "_FUN ("))
        self.is_runtime = RUNTIME.match(call) is not None or (
            is_lambda and place is not None and RUNTIME_FILE.search(place[1]) is not None
        )
        self.is_std = call.startswith(("std::", "__gnu_cxx::"))
        # Calls of a function from the same place differ in their arguments.
        self.identity = (call.partition(" (")[0], place[1] if place else line)


def runtime_runs(frames):
    """Yields lists of frames: those of the runtime that belong together, or one other frame."""
    at = 0
    while at < len(frames):
        end = next_at = at
        while next_at < len(frames) and (frames[next_at].is_runtime or frames[next_at].is_std):
            next_at += 1
            if frames[next_at - 1].is_runtime:
                end = next_at
        end = max(end, at + 1)
        yield frames[at:end]
        at = end


def folded(backtrace):
    """The output of bt with notes in place of the runtime's frames and of those that repeat."""
    frames = []
    for line in backtrace.splitlines():
        if line.startswith("#") or not frames:
            frames.append(StackFrame(line))
        else:
            frames[-1].lines.append(line)
    lines = []
    for run in runtime_runs(frames):
        is_innermost = run[0] is frames[0] and run[-1] is not frames[-1]
        shown = run[-1:] if is_innermost else []
        hidden = run[:-1] if is_innermost else run
        if not any(frame.is_runtime for frame in run) or len(hidden) < 2:
            shown = run
        else:
            lines.append(f"     ({len(hidden)} frames of corolane)")
        lines.extend(shown)
    return "\n".join(without_repetitions(lines))


def without_repetitions(lines):
    """Yields the text of frames and notes; equal frames in a row are told once."""
    for _, group in itertools.groupby(lines, lambda line: getattr(line, "identity", line)):
        first, *others = group
        told = [first] if len(others) > 1 else [first, *others]
        for line in told:
            yield from getattr(line, "lines", [line])
        if len(others) > 1:
            yield f"     (the frame above {len(others)} times more)"


def print_stack(task, options):
    is_whole = "-whole" in options.split()
    options = " ".join(word for word in options.split() if word != "-whole")
    edit = str.rstrip if is_whole else folded
    if task.frame != 0:
        with unwinder.stack_from(task.frame) as own_count:
            bt = gdb.execute(f"bt {options}", to_string=True)
            print(edit(without_newest(bt, own_count)))
        return
    thread = thread_on(task.stack)
    if thread is None:
        print("has no stack to show")
        return
    with selection_kept():
        thread.switch()
        print(edit(gdb.execute(f"bt {options}", to_string=True)))


def loaded_segments(core):
    """Yields the file offset, address and size of each memory segment in a core file."""
    header = struct.unpack("<16sHHIQQQIHHHHHH", core.read(64))
    headers_offset, entry_size, count = header[5], header[9], header[10]
    for number in range(count):
        core.seek(headers_offset + number * entry_size)
        kind, _, offset, address, _, size = struct.unpack("<IIQQQQ", core.read(40))
        if kind == 1:  # PT_LOAD
            yield offset, address, size


def readable_parts(address, size):
    """Yields the readable parts of a range, from its first part that is not readable as a whole."""
    at_once, page = 2**20, 4096
    is_complete = True
    for begin in range(address, address + size, at_once):
        end = min(begin + at_once, address + size)
        with contextlib.suppress(gdb.MemoryError):
            part = memory(begin, end - begin)
            if not is_complete:
                yield begin, part
            continue
        is_complete = False
        for begin_of_page in range(begin, end, page):
            with contextlib.suppress(gdb.MemoryError):
                yield begin_of_page, memory(begin_of_page, page)


def complete_core(path):
    """Adds what gdb left out: it stops a mapping at the first page that it cannot read."""
    with open(path, "r+b") as core:
        for offset, address, size in list(loaded_segments(core)):
            for begin, part in readable_parts(address, size):
                if part.count(0) < len(part):
                    core.seek(offset + begin - address)
                    core.write(part)


def said_without_traceback(invoke):
    """Wraps the invoke() of a command: an error of gdb is printed on one line."""

    def invoke_and_say(self, argument, from_tty):
        try:
            invoke(self, argument, from_tty)
        except gdb.MemoryError as error:
            raise gdb.GdbError(
                f"{error}\nA core file from generate-core-file lacks most stacks of tasks; "
                "`corolane core FILE` writes one with all stacks."
            ) from error
        except gdb.error as error:
            raise gdb.GdbError(str(error)) from error

    return invoke_and_say


def check_is_usable():
    if gdb.selected_thread() is None:
        raise gdb.GdbError("no process and no core file: start, attach or load one first")
    architecture = gdb.selected_frame().architecture().name()
    if architecture != "i386:x86-64":
        raise gdb.GdbError(f"saved frames of {architecture} are not supported")


class CorolaneCommand(gdb.Command):
    """Inspects the tasks of a corolane process."""

    def __init__(self):
        super().__init__("corolane", gdb.COMMAND_STATUS, prefix=True)


def place_of(task):
    return f"{task.site}, for {task.object}" if task.object else task.site


class TasksCommand(gdb.Command):
    """Lists every task: id, state, what it waits for, name, spawn site. No arguments."""

    def __init__(self):
        super().__init__("corolane tasks", gdb.COMMAND_STATUS)

    @said_without_traceback
    def invoke(self, _argument, _from_tty):
        check_is_usable()
        for number, tasks in enumerate(all_tasks(), start=1):
            print(f"scheduler {number}: {len(tasks)} tasks")
            rows = [
                (task.id, task.state, task.waits_for, task.name, place_of(task)) for task in tasks
            ]
            self.print_table([("id", "state", "waits for", "name", "spawned at"), *rows])

    @staticmethod
    def print_table(rows):
        widths = [max(len(str(row[column])) for row in rows) for column in range(4)]
        for number, *words, site in rows:
            padded = (word.ljust(width) for word, width in zip(words, widths[1:]))
            print("  ".join((str(number).rjust(widths[0]), *padded, site)))


def list_elements(head, type_name, node_name):
    """The elements of a List whose nodes are the base `node_name` of `type_name`."""
    element_type = gdb.lookup_type(f"{NAMESPACE}detail::{type_name}")
    offset = base_offset(element_type, node_name)
    node = head["next_"]
    while int(node) != int(head.address):
        yield gdb.Value(int(node) - offset).cast(element_type.pointer()).dereference()
        node = node["next_"]


def strand_groups(scheduler):
    # A unique_ptr, whatever its library calls the pointer inside.
    (address,) = struct.unpack("<Q", memory(int(scheduler["instruments_"].address), 8))
    instruments = gdb.lookup_type(f"{NAMESPACE}detail::Instruments").pointer()
    head = gdb.Value(address).cast(instruments)["strand_groups"]["head_"]
    yield from list_elements(head, "StrandGroup", "ListNode<StrandGroupTag>")


def coroutine_at(frame):
    """The function of a coroutine: the first word of its frame is the code that resumes it."""
    if frame == 0:
        return "running"
    (code,) = struct.unpack("<Q", memory(frame, 8))
    function = gdb.block_for_pc(code)
    while function is not None and function.function is None:
        function = function.superblock
    if function is None:
        return hex(code)
    # GCC names the code that resumes after the function, with its frame as the argument.
    return re.sub(r"(?<=\w)\(.*|\.actor$", "", function.function.name)


class StacklessCommand(gdb.Command):
    """Counts the stackless coroutines of groups by where they wait, and what for.

Looks at the oldest thousands of each group; those that a task awaits show as that task."""

    SEEN_MAX = 20_000

    def __init__(self):
        super().__init__("corolane stackless", gdb.COMMAND_STATUS)

    @said_without_traceback
    def invoke(self, _argument, _from_tty):
        check_is_usable()
        for number, scheduler in enumerate(schedulers(), start=1):
            groups = list(strand_groups(scheduler))
            total = sum(int(group["count"]) for group in groups)
            print(f"scheduler {number}: {total} stackless coroutines")
            counts = collections.Counter(row for group in groups for row in self.rows(group))
            rows = [(count, *row) for row, count in counts.most_common()]
            if rows:
                TasksCommand.print_table(
                    [("count", "state", "waits for", "in", "group made at"), *rows]
                )

    def rows(self, group):
        place = group["site"]["_M_impl"]
        site = f"{text(place['_M_file_name'])}:{int(place['_M_line'])}"
        strands = list_elements(
            group["strands"]["head_"], "GroupStrand", "ListNode<GroupStrandTag>"
        )
        for strand in itertools.islice(strands, self.SEEN_MAX):
            waits = bool(strand["is_waiting_"])
            yield (
                "suspended" if waits else "ready",
                text(strand["waited_for_"]) if waits else "",
                coroutine_at(int(strand["leaf_"]["_M_fr_ptr"])),
                site,
            )


class BacktraceCommand(gdb.Command):
    """Prints the stack of a task: corolane bt ID [-whole] [OPTIONS OF bt]

`corolane tasks` shows the ids; with several schedulers, every task with that id is shown.
Frames of corolane between those of the program, and frames that repeat, are one line; -whole shows
all of them."""

    def __init__(self):
        super().__init__("corolane bt", gdb.COMMAND_STACK)

    @said_without_traceback
    def invoke(self, argument, _from_tty):
        check_is_usable()
        wanted, _, options = argument.strip().partition(" ")
        if not wanted.isdigit():
            raise gdb.GdbError(
                "usage: corolane bt ID [-whole] [OPTIONS OF bt]; corolane tasks shows ids"
            )
        found = False
        for number, tasks in enumerate(all_tasks(), start=1):
            for task in (task for task in tasks if task.id == int(wanted)):
                found = True
                whose = f", for {task.object}" if task.object else ""
                print(f'task {task.id} "{task.name}" of scheduler {number}: {task.state}{whose}')
                print_stack(task, options)
        if not found:
            raise gdb.GdbError(f"there is no task {wanted}; corolane tasks shows all")


class CoreCommand(gdb.Command):
    """Writes a core file with the stacks of all tasks: corolane core FILE"""

    def __init__(self):
        super().__init__("corolane core", gdb.COMMAND_DATA, gdb.COMPLETE_FILENAME)

    @said_without_traceback
    def invoke(self, argument, _from_tty):
        check_is_usable()
        if not argument.strip():
            raise gdb.GdbError("usage: corolane core FILE")
        gdb.execute(f"generate-core-file {argument.strip()}", to_string=True)
        complete_core(argument.strip())
        print(f"wrote {argument.strip()}, with all stacks")


CorolaneCommand()
TasksCommand()
StacklessCommand()
BacktraceCommand()
CoreCommand()
