#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/docs turns the comments of public headers into pages, without a warning of Doxygen."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/reference"))

from filter import escape, filtered, without_specialisations  # noqa: E402
from headers import blocks_of, examples_of, opening_comment, public_headers  # noqa: E402


def filter_text(text, name="gate"):
    return "\n".join(filtered(name, text.splitlines()))


class BlocksTest(unittest.TestCase):
    def kinds(self, *comment):
        return [(block.kind, block.lines) for block in blocks_of(list(comment))]

    def test_three_blanks_begin_an_example(self):
        self.assertEqual(
            self.kinds(" A lock.", "", "   lock();", "     twice();", "", " The end", " of it."),
            [
                ("paragraph", ["A lock."]),
                ("cpp", ["lock();", "  twice();"]),
                ("paragraph", ["The end", "of it."]),
            ],
        )

    def test_an_example_may_have_empty_lines(self):
        self.assertEqual(self.kinds("   a();", "", "   b();"), [("cpp", ["a();", "", "b();"])])

    def test_protobuf_ends_at_an_empty_line(self):
        self.assertEqual(
            self.kinds("   service A {", "   }", "", "   class B {};"),
            [("proto", ["service A {", "}"]), ("cpp", ["class B {};"])],
        )

    def test_four_blanks_on_all_lines_are_a_text(self):
        text = ("text", [" a  b", "aa  bb"])
        self.assertEqual(self.kinds("     a  b", "    aa  bb"), [text])
        self.assertEqual(
            self.kinds("     a  b", "    aa  bb", "", "   c();"), [text, ("cpp", ["c();"])]
        )

    def test_the_lines_of_a_block_are_numbered_within_the_comment(self):
        begins = [block.begin for block in blocks_of(["   service A {", "   }", "", "   b();"])]
        self.assertEqual(begins, [0, 3])


class OpeningTest(unittest.TestCase):
    def test_only_the_opening_comment_has_examples(self):
        text = "// A lock.\n//\n//   lock();\n#pragma once\n//   unlock();\n"
        self.assertEqual(opening_comment(text), [" A lock.", "", "   lock();"])
        self.assertEqual([block.lines for block in examples_of(text)], [["lock();"]])

    def test_the_licence_above_it_is_no_part_of_it(self):
        text = "// SPDX-License-Identifier: MIT\n// A lock.\n//\n//   lock();\n"
        self.assertEqual([block.begin for block in examples_of(text)], [3])
        self.assertEqual(filter_text(text).splitlines()[:2], ["/// @file", "/// A lock."])

    def test_public_headers_have_no_private_ones(self):
        headers = public_headers(ROOT)
        self.assertIn("coroutine/sync/latch.h", headers)
        self.assertIn("framework/testing/cluster.h", headers)
        self.assertEqual([path for path in headers if "/detail/" in path or "codegen" in path], [])


class FilterTest(unittest.TestCase):
    def test_comments_become_documentation(self):
        self.assertEqual(
            filter_text("// A.\n#pragma once\n\n// Does.\nvoid f();  // Fast.\n"),
            "/// @file\n/// A.\n#pragma once\n\n/// Does.\nvoid f();  ///< Fast.",
        )

    def test_the_class_of_the_file_has_its_text(self):
        self.assertEqual(
            filter_text(
                "// A gate.\n\ntemplate <int>\nclass [[nodiscard]] Gate {\nclass Gates {\n"
            ),
            "/// @file\n/// A gate.\n\n/// A gate.\ntemplate <int>\nclass [[nodiscard]] Gate {\n"
            "class Gates {",
        )

    def test_a_class_with_a_comment_keeps_that(self):
        self.assertEqual(
            filter_text("// A.\n\n// B.\nclass Gate {\n"),
            "/// @file\n/// A.\n\n/// B.\nclass Gate {",
        )

    def test_an_example_becomes_code(self):
        self.assertEqual(
            filter_text("// A.\n//\n//   f(<1>);\n"),
            "/// @file\n/// A.\n///\n/// @code{.cpp}\n/// f(<1>);\n/// @endcode",
        )

    def test_a_comment_behind_a_member_may_go_on_below_it(self):
        self.assertEqual(
            filter_text("int a;  // One\n        // two.\nint b;"),
            "int a;  ///< One\n        ///< two.\nint b;",
        )

    def test_a_comment_that_belongs_to_nothing_is_left_out(self):
        self.assertEqual(filter_text("int a;\n// Below.\n};"), "int a;\n};")

    def test_signs_mean_themselves(self):
        self.assertEqual(escape("a<b> `c<d>` @e"), r"a\<b\> `c<d>` \@e")
        self.assertEqual(escape("a_b *c* _d_"), "a_b &#42;c&#42; &#95;d&#95;")

    def test_specialisations_of_the_standard_library_are_left_out(self):
        lines = ["int a;", "template <>", "struct std::hash<A> {", "};", "int b;"]
        self.assertEqual(list(without_specialisations(lines)), ["int a;", "int b;"])


class DocsTest(unittest.TestCase):
    def run_docs(self, *options):
        return subprocess.run(
            [ROOT / "tools/docs", *options], capture_output=True, text=True, check=False
        )

    def test_all_headers_become_pages_without_a_warning(self):
        with tempfile.TemporaryDirectory() as folder:
            process = self.run_docs("--output", folder)
            self.assertEqual((process.returncode, process.stderr), (0, ""))
            page = Path(folder, "classcorolane_1_1coroutine_1_1Latch.html").read_text()
            self.assertIn("count is zero", page)
            self.assertTrue(Path(folder, "index.html").is_file())
            again = self.run_docs("--output", folder)
            self.assertEqual(again.returncode, 0, again.stderr)

    def test_a_folder_with_other_files_is_not_replaced(self):
        with tempfile.TemporaryDirectory() as folder:
            precious = Path(folder, "precious")
            precious.touch()
            process = self.run_docs("--output", folder)
            self.assertEqual(process.returncode, 1)
            self.assertIn("has files that are no API reference", process.stderr)
            self.assertTrue(precious.exists())

    def test_help_is_printed_at_once(self):
        for option in ("-h", "--help"):
            process = self.run_docs(option)
            self.assertTrue(process.stdout.startswith("usage: tools/docs"), process.stdout)
            self.assertEqual(process.returncode, 0)

    def test_a_wrong_argument_is_refused(self):
        for options, reason in ((("--all",), "unknown argument"), (("--output",), "needs a value")):
            process = self.run_docs(*options)
            self.assertEqual(process.returncode, 2)
            self.assertIn(reason, process.stderr)


if __name__ == "__main__":
    unittest.main()
