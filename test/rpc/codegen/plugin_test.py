#!/usr/bin/env python3
"""What protoc-gen-corolane says of protos that it cannot generate, word by word, and how the
generated header of notebook.proto reads: data/notebook.corolane.h.

Called with the paths of protoc and the plugin; with --update it writes the header anew.
"""

import argparse
import difflib
import subprocess
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
NOTEBOOK = "test/rpc/codegen/notebook.proto"
GOLDEN_HEADER = REPOSITORY / "test/rpc/codegen/data/notebook.corolane.h"

PROTOC = "protoc"
PLUGIN = "protoc-gen-corolane"


def generate(proto, into, *imports):
    """Runs protoc on a proto, given by its path in one of the folders of imports."""
    command = [PROTOC, f"--plugin=protoc-gen-corolane={PLUGIN}", f"--corolane_out={into}"]
    command += [f"-I{folder}" for folder in (*imports, REPOSITORY)]
    return subprocess.run([*command, proto], capture_output=True, text=True, check=False)


def generated_header():
    with tempfile.TemporaryDirectory() as folder:
        process = generate(NOTEBOOK, folder)
        if process.returncode != 0:
            raise AssertionError(process.stderr)
        return (Path(folder) / NOTEBOOK).with_suffix(".corolane.h").read_text()


class GoldenTest(unittest.TestCase):
    def test_the_header_reads_as_before(self):
        expected, actual = GOLDEN_HEADER.read_text(), generated_header()
        if actual != expected:
            lines = difflib.unified_diff(
                expected.splitlines(), actual.splitlines(), "expected", "generated", lineterm=""
            )
            self.fail("\n".join(["run this test with --update if that is right:", *lines]))


class ProblemsTest(unittest.TestCase):
    def assert_problems(self, methods, *problems, rest=""):
        """A service with these methods, from line 6 on, has these problems: all, in this order."""
        options = 'import "rpc/options.proto";' if "corolane.method" in methods else ""
        text = (
            f'syntax = "proto3";\npackage test;\n{options}\n'
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

    def test_streams_are_not_supported(self):
        self.assert_problems(
            "  rpc Watch(M) returns (stream M);\n"
            "  rpc Upload(stream M) returns (M);\n"
            "  rpc Talk(stream M) returns (stream M);",
            "twins.proto:6:25: Watch streams, which is not supported yet; "
            "let callers ask again, and answer when there is news",
            "twins.proto:7:14: Upload streams, which is not supported yet; "
            "let callers ask again, and answer when there is news",
            "twins.proto:8:12: Talk streams, which is not supported yet; "
            "let callers ask again, and answer when there is news",
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

    def test_a_method_is_no_member_of_every_generated_class(self):
        self.assert_problems(
            "  rpc Methods(M) returns (M);\n  rpc ServiceName(M) returns (M);",
            'twins.proto:6:7: Methods becomes "methods" in C++, '
            "which generated classes have already; rename it",
            'twins.proto:7:7: ServiceName becomes "service_name" in C++, '
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
            rest="message TwinsBase {}\nenum TwinsClient { NOBODY = 0; }\n",
        )

    def test_all_problems_of_a_file_are_found_in_its_order(self):
        self.assert_problems(
            "  rpc Delete(M) returns (stream M) {\n"
            '    option (corolane.method) = {timeout: "soon", stack_size: "1B"};\n'
            "  }\n"
            "  rpc New(M) returns (M);",
            'twins.proto:6:7: Delete becomes "delete" in C++, which is a keyword; rename it',
            "twins.proto:6:26: Delete streams, which is not supported yet; "
            "let callers ask again, and answer when there is news",
            'twins.proto:7:5: Delete: timeout: read "soon"; '
            "expected a duration, such as 250ms or 1.5h (units: ns, us, ms, s, min, h, d)",
            'twins.proto:7:5: Delete: stack_size: "1B" is not between 16KiB and 2MiB',
            'twins.proto:9:7: New becomes "new" in C++, which is a keyword; rename it',
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
        GOLDEN_HEADER.write_text(generated_header())
    else:
        unittest.main(argv=[__file__])
