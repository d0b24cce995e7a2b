# SPDX-License-Identifier: MIT
"""The public headers, their comments, and the examples in them: for tools/docs and its tests.

A header opens with a comment that says what it is for. In it, lines that are indented by three
blanks are an example in C++, or in protobuf when the first one begins with `service` or `message`.
Tables and other texts are indented by four blanks or more, all of their lines:

  // Guards a state across suspensions.
  //
  //   std::scoped_lock lock(mutex);
  //   if (auto saved = save(state); !saved) return saved.error();
"""

import re
from typing import NamedTuple

MODULES = ("coroutine", "config", "net", "rpc", "framework")

# Rooms that are not for users: the generator of services, and the pages of a node.
PRIVATE = ("rpc/codegen", "framework/pages")

LICENCE = "SPDX-License-Identifier:"
PROTOBUF = re.compile(r"(service|message) \w+ \{")


class Block(NamedTuple):
    """Lines of a comment: a `paragraph`, or an indented `cpp`, `proto` or `text`."""

    kind: str
    begin: int  # The index of its first line in the comment.
    lines: list[str]  # Without their indentation, which a paragraph does not have.


def public_headers(root):
    """The paths of the headers for users, relative to the root and sorted."""
    found = []
    for module in MODULES:
        for path in (root / module).rglob("*.h"):
            header = path.relative_to(root).as_posix()
            if "/detail/" not in header and not header.startswith(PRIVATE):
                found.append(header)
    return sorted(found)


def opening_comment(text):
    """The lines of the comment with which a header begins, without their slashes. A line of the
    licence above it counts as an empty one.
    """
    lines = []
    for line in text.splitlines():
        if not lines and LICENCE in line:
            lines.append("")
            continue
        match = re.fullmatch(r"//(.*)", line)
        if not match:
            break
        lines.append(match[1])
    return lines


def kind_of(lines):
    first = lines[0]
    if not first.startswith("   "):
        return "paragraph"
    if all(line.startswith("    ") for line in lines if line.strip()):
        return "text"
    return "proto" if PROTOBUF.match(first.strip()) else "cpp"


def blocks_of(comment):
    """The blocks of a comment, whose lines have no slashes. An empty line ends a paragraph, but not
    an example that goes on below it.
    """
    runs = []  # (begin, lines)
    for index, line in enumerate(comment):
        is_indented = line.startswith("   ")
        last = runs[-1] if runs else None
        if line.strip() and last and last[1] and last[1][0].startswith("   ") == is_indented:
            between = index - last[0] - len(last[1])
            if between == 0 or is_indented:
                last[1].extend([""] * between + [line])
                continue
        if line.strip():
            runs.append((index, [line]))
    return [block for begin, lines in runs for block in split_languages(begin, lines)]


def split_languages(begin, lines):
    """Parts a text or protobuf from the C++ that follows it after an empty line."""
    end = lines.index("") if "" in lines else len(lines)
    kind = kind_of(lines[:end])
    if kind == "cpp" or end == len(lines):
        yield Block(kind, begin, without_indentation(lines))
        return
    yield Block(kind, begin, without_indentation(lines[:end]))
    while lines[end] == "":
        end += 1
    yield from split_languages(begin + end, lines[end:])


def without_indentation(lines):
    depth = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    return [line[depth:].rstrip() for line in lines]


def examples_of(text):
    """The C++ examples of a header, from its opening comment."""
    return [block for block in blocks_of(opening_comment(text)) if block.kind == "cpp"]
