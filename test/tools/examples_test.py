#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each public header shows its use in an example, and the examples compile.

Called with a compiler and a build tree. tools/reference/headers.py says what an example is. The
examples of a module are compiled as one file, each in a namespace of its own, and there inside a
function, since most are statements. `...` in an example stands for code that is left out.

test/examples/MODULE.prelude declares the other names that examples use: first those that all of
them may use, then, below a line `=== path/of/header.h`, those of one header. A line `...` among the
latter stands for the example, which is then in no function; several stand for one part of it each,
which end at empty lines.
"""

import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRELUDES = ROOT / "test/examples"
COMPILER = "c++"
BUILD = ROOT / "build/release"

sys.path.insert(0, str(ROOT / "tools/reference"))

from headers import MODULES, examples_of, public_headers  # noqa: E402

NAMESPACE = re.compile(r"^namespace (corolane[\w:]*) \{", re.MULTILINE)
LEFT_OUT = re.compile(r"(?<![^\s{(])\.\.\.(?![^\s})])")
SECTION = re.compile(r"^=== (\S+)$", re.MULTILINE)
PLACE = re.compile(r"^\.\.\.$", re.MULTILINE)

# The result of a function with an example: it accepts whatever the example returns.
ANYTHING = """
#include <chrono>
namespace corolane::examples {
struct Anything {
  Anything() = default;
  template <typename T>
  Anything(T&&) {}
};
}
"""


class Misplaced(Exception):
    """An example does not fit its prelude; the message says which."""


def sections_of(prelude):
    """The text for all examples of a prelude, and the texts of single headers by their paths."""
    common, *rest = SECTION.split(prelude)
    return common, dict(zip(rest[::2], rest[1::2]))


def without_includes(text):
    """The text and its includes, each in its own string."""
    lines = text.splitlines()
    return (
        "\n".join(line for line in lines if not line.startswith("#include")),
        "\n".join(line for line in lines if line.startswith("#include")),
    )


def as_code(path, begin, lines):
    code = "\n".join(LEFT_OUT.sub("", line) for line in lines)
    return f'#line {begin + 1} "{path}"\n{code}\n#line 1 "prelude of {path}"\n'


def parts_of(blocks):
    """(begin, lines) of each part of an example: the lines between two empty ones."""
    for block in blocks:
        ends = [index for index, line in enumerate(block.lines) if not line] + [len(block.lines)]
        begin = 0
        for end in ends:
            yield block.begin + begin, block.lines[begin:end]
            begin = end + 1


def example_of(path, number, namespace, prelude, blocks, module):
    """The namespace that contains the example of a header."""
    codes = [as_code(path, *part) for part in parts_of(blocks)]
    places = len(PLACE.findall(prelude))
    if places == 0:
        body = "".join(codes)
        content = (
            f"{prelude}\ninline ::corolane::examples::Anything example() {{\n"
            f"{body}\nreturn {{}};\n}}"
        )
    else:
        shown = codes if places > 1 else ["".join(codes)]
        if len(shown) != places:
            raise Misplaced(f"{path} has {len(shown)} parts for {places} places in its prelude")
        content = PLACE.sub(lambda _: shown.pop(0), prelude)
    return (
        f"namespace {namespace}::example_{number} {{\n"
        "using namespace std::chrono_literals;\n"
        f"using namespace ::corolane::{module}::example_names;\n"
        f'#line 1 "prelude of {path}"\n{content}\n}}\n'
    )


def unit_of(module, texts, prelude):
    """One source with all examples of a module. `texts` are its headers by their paths."""
    common, sections = sections_of(prelude)
    common, includes = without_includes(common)
    parts = []
    for number, (path, text) in enumerate(texts.items()):
        blocks = examples_of(text)
        if not blocks:
            continue
        section, more = without_includes(sections.get(path, ""))
        includes += f'\n#include "{path}"\n{more}'
        # Declarations of other modules may come before the namespace of the header.
        named = NAMESPACE.findall(text)
        own = [name for name in named if name.startswith(f"corolane::{module}")]
        outer = [*own, *reversed(named), f"corolane::{module}"][0]
        parts.append(example_of(path, number, outer, section, blocks, module))
    names = f"namespace corolane::{module}::example_names {{\n{common}\n}}\n"
    return "\n".join([ANYTHING, includes, names, *parts])


def compile_unit(source):
    """The compiler's messages about a source; empty when it compiles."""
    with tempfile.NamedTemporaryFile("w", suffix=".cc") as file:
        file.write(source)
        file.flush()
        process = subprocess.run(
            [
                *(COMPILER, "-std=c++23", "-fsyntax-only", "-w", "-fmax-errors=20"),
                *("-I", ROOT, "-I", BUILD / "generated", file.name),
            ],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    return process.stderr if process.returncode != 0 else ""


def read_module(module):
    headers = (path for path in public_headers(ROOT) if path.startswith(f"{module}/"))
    return {path: (ROOT / path).read_text(encoding="utf-8") for path in headers}


def read_prelude(module):
    return (PRELUDES / f"{module}.prelude").read_text(encoding="utf-8")


class ExamplesTest(unittest.TestCase):
    def test_each_public_header_has_an_example(self):
        texts = [item for module in MODULES for item in read_module(module).items()]
        without = [path for path, text in texts if not examples_of(text)]
        self.assertFalse(without, "their opening comments show no use: " + ", ".join(without))

    def test_the_examples_compile(self):
        units = [unit_of(name, read_module(name), read_prelude(name)) for name in MODULES]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for module, messages in zip(MODULES, pool.map(compile_unit, units)):
                with self.subTest(module):
                    self.assertEqual(messages, "")

    def test_each_section_of_a_prelude_belongs_to_an_example(self):
        for module in MODULES:
            texts = read_module(module)
            for path in sections_of(read_prelude(module))[1]:
                with self.subTest(path):
                    self.assertTrue(examples_of(texts.get(path, "")), "there is no such example")


class UnitTest(unittest.TestCase):
    HEADER = "// Adds.\n//\n//   int three = add(1, two);\n//   {code}\nnamespace corolane::net {\n"

    def compile(self, code, prelude="int add(int, int);\n=== net/a.h\nint two = 2;\n"):
        text = self.HEADER.replace("{code}", code)
        unit = unit_of("net", {"net/a.h": text}, prelude).replace('#include "net/a.h"', "")
        return compile_unit(unit)

    def test_statements_compile_in_a_function(self):
        for code in ("three = 4;", "...", "return three;", "std::chrono::seconds s = 1s;"):
            self.assertEqual(self.compile(code), "", code)

    def test_a_mistake_is_reported_at_its_line_in_the_header(self):
        self.assertIn("net/a.h:4:", self.compile("three = four;"))

    def test_a_prelude_may_say_where_the_example_goes(self):
        prelude = (
            "int add(int, int);\n=== net/a.h\nclass A {\n  static const int two = 2;\n...\n};\n"
        )
        self.assertEqual(self.compile("void f() { ... }", prelude), "")
        self.assertIn("net/a.h:4:", self.compile("three = 4;", prelude))


if __name__ == "__main__":
    if len(sys.argv) > 2:
        COMPILER, BUILD = sys.argv[1], Path(sys.argv[2]).resolve()
    unittest.main(argv=sys.argv[:1])
