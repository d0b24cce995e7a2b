#!/usr/bin/env python3
"""What protoc-gen-corolane says of protos that it cannot generate, word by word, and how the
generated code of notebook.proto reads: data/notebook.corolane.h and .cc.

Called with the paths of protoc and the plugin; with --update it writes that code anew.
"""

import argparse
import difflib
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
NOTEBOOK = "test/rpc/codegen/notebook.proto"
SHOP = "test/rpc/codegen/stationery/shop.proto"
GOLDEN_FOLDER = REPOSITORY / "test/rpc/codegen/data"

PROTOC = "protoc"
PLUGIN = "protoc-gen-corolane"


def generate(proto, into, *imports, also=()):
    """Runs protoc on protos, given by their paths in one of the folders of imports."""
    command = [PROTOC, f"--plugin=protoc-gen-corolane={PLUGIN}", f"--corolane_out={into}"]
    command += [f"-I{folder}" for folder in (*imports, REPOSITORY)]
    return subprocess.run([*command, proto, *also], capture_output=True, text=True, check=False)


def generated(proto, *imports):
    """The header and the source that are made of a proto."""
    with tempfile.TemporaryDirectory() as folder:
        process = generate(proto, folder, *imports)
        if process.returncode != 0:
            raise AssertionError(process.stderr)
        path = Path(folder) / proto
        return [path.with_suffix(suffix).read_text() for suffix in (".corolane.h", ".corolane.cc")]


def golden_files():
    """Pairs of a file and what should be in it."""
    names = ("notebook.corolane.h", "notebook.corolane.cc")
    return zip((GOLDEN_FOLDER / name for name in names), generated(NOTEBOOK))


class GoldenTest(unittest.TestCase):
    def test_the_code_reads_as_before(self):
        for path, actual in golden_files():
            expected = path.read_text()
            if actual != expected:
                lines = difflib.unified_diff(
                    expected.splitlines(), actual.splitlines(), "expected", "made", lineterm=""
                )
                self.fail("\n".join(["run this test with --update if that is right:", *lines]))

    @unittest.skipUnless(shutil.which("clang-format-19"), "clang-format-19 is not installed")
    def test_the_code_is_laid_out_as_ours(self):
        for proto in (NOTEBOOK, SHOP, "services/chess/chess.proto", "rpc/reflection.proto"):
            stem = proto.removesuffix(".proto")
            for suffix, text in zip((".corolane.h", ".corolane.cc"), generated(proto)):
                command = ["clang-format-19", f"--assume-filename={stem}{suffix}"]
                formatted = subprocess.check_output(
                    command, input=text, text=True, cwd=REPOSITORY
                )
                self.assertEqual(text, formatted)


class TextTest(unittest.TestCase):
    """What a proto of a few lines becomes."""

    def generated(self, text):
        with tempfile.TemporaryDirectory() as folder:
            content = f'syntax = "proto3";\n{text}'.encode("utf-8", "surrogateescape")
            (Path(folder) / "twins.proto").write_bytes(content)
            return generated("twins.proto", folder)

    def includes(self, text):
        return [re.findall('#include ["<](.*)[">]', made) for made in self.generated(text)]

    def test_only_what_is_needed_is_included(self):
        own = ["span", "rpc/client.h", "rpc/service.h"]
        calls = sorted([*own[1:], "coroutine/base/result.h", "rpc/context.h", "twins.pb.h"])
        unary = "rpc Eat(M) returns (M);"
        stream = "rpc Watch(M) returns (stream M);"
        self.assertEqual(
            self.includes("service Twins {}"), [own, ["twins.corolane.h"]]
        )
        self.assertEqual(
            self.includes("message M {} service Twins {" + unary + "}"),
            [
                ["span", *calls],
                ["twins.corolane.h", "array", "chrono", "utility", "rpc/frame.h"],
            ],
        )
        self.assertEqual(
            self.includes("message M {} service Twins {" + stream + "}"),
            [
                ["span", *sorted([*calls, "rpc/stream.h"])],
                ["twins.corolane.h", "array", "chrono", "rpc/frame.h"],
            ],
        )

    def test_without_services_there_is_nothing_to_include(self):
        header, source = self.generated("message M {}")
        self.assertNotIn("#include", header)
        self.assertNotIn("XBase", header)
        self.assertEqual(source.splitlines()[1:], ['#include "twins.corolane.h"'])

    def test_comments_are_those_directly_above_and_behind(self):
        header, _ = self.generated(
            "message M {}\n"
            "service Twins {\n"
            "  rpc Drink(M) returns (M);\n"
            "\n"
            "  // Of a heading.\n"
            "\n"
            "  // Above.\n"
            "  rpc Eat(M) returns (M);  // Behind.\n"
            "}\n"
        )
        self.assertEqual(header.count("  // Above.\n  //\n  // Behind.\n"), 2)
        self.assertNotIn("heading", header)

    def test_a_comment_ends_with_its_line(self):
        header, source = self.generated(
            "message M {}\n"
            "service Twins {\n"
            "  // A backslash \\ \t\n"
            "  // or what was one once ??/\n"
            "  // no end */, no begin /*, no escape \x1b[2J,\r\n"
            '  // "quoted" ??= \\n.\n'
            "  // h\u00e9llo, no UTF-8: \udce9\udcff.\n"
            "  rpc Eat(M) returns (M);\n"
            "}\n"
        )
        self.assertIn(
            "  // A backslash \\.\n"
            "  // or what was one once ??/.\n"
            "  // no end */, no begin /*, no escape [2J,\n"
            '  // "quoted" ??= \\n.\n'
            "  // h\u00e9llo, no UTF-8: ??.\n"
            "  virtual ",
            header,
        )
        self.assertIn(
            '     "A backslash \\\\\\n"\n'
            '     "or what was one once ?\\?/\\n"\n'
            '     "no end */, no begin /*, no escape [2J,\\n"\n'
            '     "\\"quoted\\" ?\\?= \\\\n.\\n"\n'
            '     "h\u00e9llo, no UTF-8: ?\\?."},\n',
            source,
        )


class ProblemsTest(unittest.TestCase):
    def assert_problems(self, methods, *problems, package="test", rest=""):
        """A service with these methods, from line 6 on, has these problems: all, in this order."""
        options = 'import "rpc/options.proto";' if "corolane.method" in methods else ""
        if "protobuf.Empty" in methods:
            options += 'import "google/protobuf/empty.proto";'
        text = (
            f'syntax = "proto3";\npackage {package};\n{options}\n'
            f"message M {{}}\nservice Twins {{\n{methods}\n}}\n{rest}"
        )
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "twins.proto").write_text(text)
            process = generate("twins.proto", folder, folder)
            generated = list(Path(folder).glob("*.corolane.*"))
        first, *lines = process.stderr.splitlines()
        self.assertEqual(first, "--corolane_out: nothing is generated until this is mended:")
        self.assertEqual(lines, list(problems))
        self.assertEqual(process.returncode, 1)
        self.assertEqual(generated, [])

    def test_callers_send_no_streams(self):
        self.assert_problems(
            "  rpc Upload(stream M) returns (M);\n"
            "  rpc Talk(stream M) returns (stream M);",
            "twins.proto:6:14: Upload takes a stream, which is not supported; "
            "let callers call once for each message, or send them in a repeated field",
            "twins.proto:7:12: Talk takes a stream, which is not supported; "
            "let it reply one, and take what callers send in a method of its own",
        )

    def test_a_one_way_method_replies_nothing(self):
        self.assert_problems(
            "  rpc Tell(M) returns (M) { option (corolane.method).one_way = true; }\n"
            "  rpc Watch(M) returns (stream M) { option (corolane.method).one_way = true; }",
            "twins.proto:6:24: Tell is one_way, so nobody gets its test.M; "
            "let it return google.protobuf.Empty, or leave one_way out",
            "twins.proto:7:37: Watch: one_way: it replies a stream; leave one of the two out",
        )

    def test_only_calls_that_are_answered_once_are_tried_again(self):
        self.assert_problems(
            "  rpc Tell(M) returns (google.protobuf.Empty) {\n"
            "    option (corolane.method).one_way = true;\n"
            "    option (corolane.method).idempotent = true;\n"
            "  }\n"
            "  rpc Watch(M) returns (stream M) { option (corolane.method).idempotent = true; }",
            "twins.proto:8:5: Tell: idempotent: one-way calls are never tried again; leave it out",
            "twins.proto:10:37: Watch: idempotent: streams are never tried again; leave it out",
        )

    def test_a_priority_is_one_of_four(self):
        self.assert_problems(
            "  rpc Eat(M) returns (M) { option (corolane.method) = {priority: 9}; }",
            "twins.proto:6:28: Eat: priority: there is no 9; "
            "there are CONTROL, IN_SESSION, LOGIN, BACKGROUND",
        )

    def test_a_timeout_is_a_duration(self):
        self.assert_problems(
            "  rpc Eat(M) returns (M) {\n"
            '    option (corolane.method) = {timeout: "5 apples"};\n'
            "  }",
            'twins.proto:7:5: Eat: timeout: read "5 apples" with an unknown unit " apples"; '
            "expected a duration, such as 250ms or 1.5h (units: ns, us, ms, s, min, h, d)",
        )

    def test_a_timeout_leaves_time(self):
        self.assert_problems(
            '  rpc Eat(M) returns (M) { option (corolane.method).timeout = "0s"; }',
            'twins.proto:6:28: Eat: timeout: "0s" would end every call at once; '
            "leave it out for 10s",
        )

    def test_a_timeout_fits_the_wire(self):
        self.assert_problems(
            '  rpc Eat(M) returns (M) { option (corolane.method).timeout = "2h"; }',
            'twins.proto:6:28: Eat: timeout: "2h" is above 4294967295us, '
            "the most that a request can say",
        )

    def test_a_stack_is_as_large_as_the_pool_has_them(self):
        self.assert_problems(
            '  rpc Low(M) returns (M) { option (corolane.method).stack_size = "8KiB"; }\n'
            '  rpc High(M) returns (M) { option (corolane.method).stack_size = "4MiB"; }\n'
            '  rpc Odd(M) returns (M) { option (corolane.method).stack_size = "64"; }',
            'twins.proto:6:28: Low: stack_size: "8KiB" is not between 16KiB and 2MiB',
            'twins.proto:7:29: High: stack_size: "4MiB" is not between 16KiB and 2MiB',
            'twins.proto:8:28: Odd: stack_size: read "64" without a unit; expected a byte count, '
            "such as 64KiB or 1.5MB (units: B, KiB, MiB, GiB, KB, MB, GB)",
        )

    def test_methods_have_names_of_their_own_in_cpp(self):
        self.assert_problems(
            "  rpc GetURL(M) returns (M);\n  rpc GetUrl(M) returns (M);",
            'twins.proto:7:7: GetUrl becomes "get_url" in C++, as does GetURL; '
            "rename one of them",
        )

    def test_a_method_is_no_keyword(self):
        self.assert_problems(
            "  rpc Delete(M) returns (M);\n  rpc CoAwait(M) returns (M);",
            'twins.proto:6:7: Delete becomes "delete" in C++, which is a keyword; rename it',
            'twins.proto:7:7: CoAwait becomes "co_await" in C++, which is a keyword; rename it',
        )

    def test_a_method_is_no_macro(self):
        self.assert_problems(
            "  rpc Assert(M) returns (M);",
            'twins.proto:6:7: Assert becomes "assert" in C++, '
            "which is a macro of the C library; rename it",
        )

    def test_a_package_has_no_keywords(self):
        self.assert_problems(
            "  rpc Eat(M) returns (M);",
            'twins.proto:2:1: package fast.new.concept: "new" is a keyword of C++, '
            "and no namespace; rename it",
            'twins.proto:2:1: package fast.new.concept: "concept" is a keyword of C++, '
            "and no namespace; rename it",
            package="fast.new.concept",
        )

    def test_a_method_is_no_member_of_every_generated_class(self):
        self.assert_problems(
            "  rpc Methods(M) returns (M);\n"
            "  rpc ServiceName(M) returns (M);\n"
            "  rpc Comments(M) returns (M);",
            'twins.proto:6:7: Methods becomes "methods" in C++, '
            "which generated classes have already; rename it",
            'twins.proto:7:7: ServiceName becomes "service_name" in C++, '
            "which generated classes have already; rename it",
            'twins.proto:8:7: Comments becomes "comments" in C++, '
            "which generated classes have already; rename it",
        )

    def test_methods_have_ids_of_their_own(self):
        # Found by a search of some ten thousand million names.
        self.assert_problems(
            "  rpc M50y0gxvf4ywsd(M) returns (M);\n  rpc Mphpynlahnfs2o(M) returns (M);",
            "twins.proto:7:7: test.Twins/Mphpynlahnfs2o and test.Twins/M50y0gxvf4ywsd "
            "have the same id on the wire; rename one of them",
        )

    def test_the_generated_classes_need_free_names(self):
        self.assert_problems(
            "  rpc Eat(M) returns (M);",
            "twins.proto:5:9: Twins becomes the class TwinsBase in C++, "
            "a name that is taken already; rename one of them",
            "twins.proto:5:9: Twins becomes the class TwinsClient in C++, "
            "a name that is taken already; rename one of them",
            rest="message TwinsBase {}\nenum Kind { TwinsClient = 0; }\nservice BothClient {}\n"
            "service Both {}\n",
        )

    def test_all_problems_of_a_file_are_found_in_its_order(self):
        self.assert_problems(
            "  rpc Delete(stream M) returns (M) {\n"
            '    option (corolane.method) = {timeout: "soon", stack_size: "1B"};\n'
            "  }\n"
            "  rpc New(M) returns (M);",
            'twins.proto:6:7: Delete becomes "delete" in C++, which is a keyword; rename it',
            "twins.proto:6:14: Delete takes a stream, which is not supported; "
            "let callers call once for each message, or send them in a repeated field",
            'twins.proto:7:5: Delete: timeout: read "soon"; '
            "expected a duration, such as 250ms or 1.5h (units: ns, us, ms, s, min, h, d)",
            'twins.proto:7:5: Delete: stack_size: "1B" is not between 16KiB and 2MiB',
            'twins.proto:9:7: New becomes "new" in C++, which is a keyword; rename it',
        )

    def test_all_files_are_looked_at(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("one", "two"):
                (Path(folder) / f"{name}.proto").write_text(
                    f'syntax = "proto3";\nmessage {name} {{}}\n'
                    f"service S{name} {{ rpc New({name}) returns ({name}); }}\n"
                )
            process = generate("one.proto", folder, folder, also=["two.proto"])
        self.assertEqual(
            process.stderr,
            "--corolane_out: nothing is generated until this is mended:\n"
            'one.proto:3:20: New becomes "new" in C++, which is a keyword; rename it\n'
            'two.proto:3:20: New becomes "new" in C++, which is a keyword; rename it\n',
        )

    def test_the_plugin_takes_no_parameter(self):
        with tempfile.TemporaryDirectory() as folder:
            process = generate(NOTEBOOK, f"lite:{folder}")
        self.assertEqual(
            process.stderr,
            '--corolane_out: "lite": protoc-gen-corolane takes no parameter\n',
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("protoc")
    parser.add_argument("plugin")
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    PROTOC, PLUGIN = arguments.protoc, arguments.plugin
    if arguments.update:
        for golden_path, made_text in golden_files():
            golden_path.write_text(made_text)
    else:
        unittest.main(argv=[__file__])
