# SPDX-License-Identifier: MIT
"""Reads a page of a tutorial: commands, their expected output, and the files that a reader saves.

  ```sh      commands; one shell runs all commands of the page
  ```text    after commands: their output. Without it they must print nothing
  ```browser what people do and see, each in a window of a browser; a line each
  ```other   a file; the line before it ends with its name: "Save it as `cluster.yaml`:"

In a window, of which each person has one:

  Anna opens http://127.0.0.1:8460/
  Anna writes "7" into "Your donation"    the label of a field
  Anna presses "Donate"                   a button or a link
  Anna sees "12 gold"                     sooner or later, as words of their own

In an output, a line `...` stands for any number of lines, `...` within a line for any text, and a
word that begins with `~` for any word. Runs of blanks count as one blank.
"""

import re
from typing import NamedTuple

FENCE = "```"
FILE_NAME = re.compile(r"`([\w.-]+)`:$")
ANY_LINES = "..."
ACT = re.compile(
    r"(?P<person>\w+) (?P<verb>opens|writes|presses|sees) "
    r'(?:"(?P<text>[^"]+)"|(?P<url>http\S+))(?: into "(?P<label>[^"]+)")?'
)
# The variable parts of a line of expected output.
VARYING = re.compile(r"\.\.\.|~\S+| +")


class Act(NamedTuple):
    """What somebody does in a window, or sees there."""

    line: int
    person: str
    verb: str
    text: str  # Or the address.
    label: str = ""


class Step(NamedTuple):
    line: int  # The first line of the block in the page, from 1 on.
    commands: str = ""
    output_line: int = 0
    output: tuple[str, ...] = ()
    file_name: str = ""  # Instead of commands: a file to save.
    content: str = ""
    acts: tuple[Act, ...] = ()  # Instead of commands: what happens in browsers.


class Mismatch(NamedTuple):
    index: int  # The index of the missing line of the output.
    expected: str


class Unreadable(Exception):
    """The page breaks the rules above; the message says where."""


def blocks_of(page):
    """Yields (line, language, the line of text before it, lines) of each block."""
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
        elif language == "browser":
            steps.append(Step(line, acts=tuple(acts_of(line, lines))))
        elif name := FILE_NAME.search(before):
            content = "\n".join(lines) + "\n"
            steps.append(Step(line, file_name=name[1], content=content))
        else:
            raise Unreadable(f"line {line}: a file without a name; end the line before it with one")
    return steps


def acts_of(first_line, lines):
    for number, text in enumerate(lines, start=first_line):
        act = ACT.fullmatch(text)
        is_address = act and act["url"] is not None
        if not act or is_address != (act["verb"] == "opens") or (
            (act["label"] is not None) != (act["verb"] == "writes")
        ):
            raise Unreadable(f"line {number}: nobody can do that in a window: {text}")
        yield Act(number, act["person"], act["verb"], act["text"] or act["url"], act["label"] or "")


def pattern_of_line(expected):
    """The regular expression for one line of an output."""
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
    """The regular expression for several lines, each with its end."""
    return "".join(
        r"(?:.*\n)*?" if line.strip() == ANY_LINES else pattern_of_line(line) + r"\n"
        for line in expected
    )


def compare(expected, printed):
    """The first expected line that is missing, or None when the output matches."""
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
