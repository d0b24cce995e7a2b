#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Copies the public headers to a folder, with comments that Doxygen reads: filter.py FOLDER.

Our comments are plain `//`. The one that opens a header becomes the page of the file, and of the
class after which the file is named; one above a declaration becomes the text of that declaration,
and one behind a member the text of that member. Indented lines become blocks of code. Prints the
paths of the copies.
"""

import re
import sys
from pathlib import Path

from headers import LICENCE, blocks_of, public_headers

ROOT = Path(__file__).resolve().parents[2]

COMMENT = re.compile(r"( *)//(?!/)(.*)")
TRAILING = re.compile(r"( *[^\s/].*?[;,}{)\w])( +)// (.*)")
# These lines declare nothing, so a comment above them belongs to nothing.
UNDOCUMENTED = re.compile(r" *(#(?!define).*|(public|private|protected):|\};?)?")

CLASS = re.compile(r"(?:class|struct)(?: \[\[\w+\]\])? (\w+)")
WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

QUOTED = re.compile(r"`[^`]*`")
SPECIAL = re.compile(r"[\\@<>#%&$\"*~|\[\]]|(?<!\w)_|_(?!\w)")
LANGUAGE = {"cpp": ".cpp", "proto": ".unparsed", "text": ".unparsed"}


def escape(text):
    """The text as it is meant: only backquotes have a meaning in our comments."""
    parts = []
    end = 0
    for quoted in QUOTED.finditer(text):
        parts += [SPECIAL.sub(escaped_character, text[end : quoted.start()]), quoted[0]]
        end = quoted.end()
    return "".join([*parts, SPECIAL.sub(escaped_character, text[end:])])


def escaped_character(match):
    # Doxygen has no escape for the signs that only Markdown knows.
    sign = match[0]
    return f"&#{ord(sign)};" if sign in "*_~|[]" else "\\" + sign


def as_documentation(comment, indentation):
    """The lines of a comment, as Doxygen reads them."""
    lines = []
    for block in blocks_of(comment):
        if lines:
            lines.append("")
        if block.kind == "paragraph":
            lines += escape("\n".join(line.strip() for line in block.lines)).split("\n")
        else:
            lines += [f"@code{{{LANGUAGE[block.kind]}}}", *block.lines, "@endcode"]
    return [f"{indentation}/// {line}".rstrip() for line in lines]


def is_class_of(name, line, following):
    """Whether the class after which a file is named begins with the line."""
    match = CLASS.match(following if line.startswith("template <") else line)
    return match is not None and WORD.sub("_", match[1]).lower() == name


def filtered(name, lines):
    """Yields the lines of the header of that name, with its comments turned into documentation."""
    index = 0
    opening = []
    behind = None  # The column of the trailing comment of the line before.
    while index < len(lines):
        line = lines[index]
        index += 1
        if trailing := TRAILING.fullmatch(line):
            behind = len(trailing[1] + trailing[2])
            yield f"{trailing[1]}  ///< {escape(trailing[3])}"
            continue
        match = COMMENT.fullmatch(line)
        if match is None:
            if is_class_of(name, line, lines[index] if index < len(lines) else ""):
                yield from opening
                opening = []
            yield line
        elif behind == len(match[1]):
            yield f"{match[1]}///< {escape(match[2].strip())}"
            continue
        else:
            comment = ["" if LICENCE in match[2] else match[2]]
            is_opening = index == 1
            while index < len(lines) and (more := COMMENT.fullmatch(lines[index])):
                comment.append(more[2])
                index += 1
            following = lines[index] if index < len(lines) else ""
            if is_opening:
                yield "/// @file"
            if is_opening or not UNDOCUMENTED.fullmatch(following):
                documentation = as_documentation(comment, match[1])
                yield from documentation
                opening = documentation if is_opening else opening
                if is_class_of(name, following, "".join(lines[index + 1 : index + 2])):
                    opening = []
        behind = None


def without_specialisations(lines):
    """Leaves out specialisations of templates of the standard library."""
    is_inside = False
    for line, following in zip(lines, [*lines[1:], ""]):
        is_inside |= line == "template <>" and following.startswith("struct std::")
        if not is_inside:
            yield line
        is_inside &= line != "};"


def main():
    folder = Path(sys.argv[1])
    for header in public_headers(ROOT):
        lines = (ROOT / header).read_text(encoding="utf-8").splitlines()
        copy = folder / header
        copy.parent.mkdir(parents=True, exist_ok=True)
        text = "\n".join(filtered(copy.stem, list(without_specialisations(lines))))
        copy.write_text(text + "\n", encoding="utf-8")
        print(copy)


if __name__ == "__main__":
    main()
