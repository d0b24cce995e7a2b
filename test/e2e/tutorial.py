"""Reads a tutorial: its commands, the output that it says they print, and the files that it has
its reader save.

  ```sh      commands, for one shell from the first to the last of the page
  ```text    behind commands: what they print. Without it they print nothing
  ```other   a file: the line before it ends with its name, as in "Save it as `cluster.yaml`:"

In an output a line `...` stands for any lines, or none; `...` within a line for anything there; a
word that begins with `~` for another one each time. Runs of blanks are all the same.
"""

import re
from typing import NamedTuple

FENCE = "```"
FILE_NAME = re.compile(r"`([\w.-]+)`:$")
ANY_LINES = "..."
# Within a line that says what is to come.
VARYING = re.compile(r"\.\.\.|~\S+| +")


class Step(NamedTuple):
    line: int  # Of its first line within the page, from 1 on.
    commands: str = ""
    output_line: int = 0
    output: tuple[str, ...] = ()
    file_name: str = ""  # Instead of commands: what is saved.
    content: str = ""


class Mismatch(NamedTuple):
    index: int  # Of the line of the output that did not come.
    expected: str


class Unreadable(Exception):
    """The page breaks the rules above; says where."""


def blocks_of(page):
    """(line, language, the line of text before it, lines) of each block."""
    lines = page.splitlines()
    begin = None
    for number, line in enumerate(lines, start=1):
        if not line.startswith(FENCE):
            continue
        if begin is None:
            begin = number
            continue
        before = next((text for text in reversed(lines[: begin - 1]) if text.strip()), "")
        yield begin + 1, lines[begin - 1][len(FENCE) :], before, lines[begin : number - 1]
        begin = None
    if begin is not None:
        raise Unreadable(f"line {begin}: a block that does not end")


def steps_of(page):
    steps = []
    for line, language, before, lines in blocks_of(page):
        if language == "sh":
            steps.append(Step(line, commands="\n".join(lines) + "\n"))
        elif language == "text":
            if not steps or not steps[-1].commands or steps[-1].output:
                raise Unreadable(f"line {line}: an output without commands before it")
            steps[-1] = steps[-1]._replace(output_line=line, output=tuple(lines))
        elif name := FILE_NAME.search(before):
            content = "\n".join(lines) + "\n"
            steps.append(Step(line, file_name=name[1], content=content))
        else:
            raise Unreadable(f"line {line}: a file without a name; end the line before it with one")
    return steps


def pattern_of_line(expected):
    """The regular expression of one line of an output."""
    pattern = ""
    end = 0
    text = expected.rstrip()
    for varying in VARYING.finditer(text):
        pattern += re.escape(text[end : varying.start()])
        if varying[0] == ANY_LINES:
            pattern += ".*"
        else:
            pattern += " +" if varying[0].isspace() else r"\S+"
        end = varying.end()
    return pattern + re.escape(text[end:]) + r"[ \t]*"


def pattern_of(expected):
    """That of several lines, each with its end."""
    return "".join(
        r"(?:.*\n)*?" if line.strip() == ANY_LINES else pattern_of_line(line) + r"\n"
        for line in expected
    )


def compare(expected, printed):
    """The first line of what is expected that did not come; None when all is as expected."""
    text = "".join(f"{line}\n" for line in printed)
    if re.fullmatch(pattern_of(expected), text):
        return None
    for count in range(len(expected), 0, -1):
        if re.match(pattern_of(expected[:count]), text):
            break
    else:
        count = 0
    if count == len(expected):
        return Mismatch(count, "nothing more")
    return Mismatch(count, expected[count])
