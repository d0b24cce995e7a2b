#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the exact error messages of protoc-gen-corolane, and compares the generated code of
library.proto with the golden files data/library.corolane.h and .cc.

Called with the paths of protoc and the plugin; with --update it rewrites the golden files.
"""

import argparse
import difflib
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
LIBRARY = "test/rpc/codegen/library.proto"
GOLDEN_FOLDER = REPOSITORY / "test/rpc/codegen/data"

PROTOC = "protoc"
PLUGIN = "protoc-gen-corolane"


def generate(proto, into, *imports, also=()):
    """Runs protoc on protos, given by their paths in one of the folders of imports."""
    command = [PROTOC, f"--plugin=protoc-gen-corolane={PLUGIN}", f"--corolane_out={into}"]
    command += [f"-I{folder}" for folder in (*imports, REPOSITORY)]
    return subprocess.run([*command, proto, *also], capture_output=True, text=True, check=False)


def generated(proto, *imports):
    """The generated header and source of a proto."""
    with tempfile.TemporaryDirectory() as folder:
        process = generate(proto, folder, *imports)
        if process.returncode != 0:
            raise AssertionError(process.stderr)
        path = Path(folder) / proto
        return [path.with_suffix(suffix).read_text() for suffix in (".corolane.h", ".corolane.cc")]


def golden_files():
    """Pairs of a file and what should be in it."""
    for suffix, text in zip((".corolane.h", ".corolane.cc"), generated(LIBRARY)):
        yield (GOLDEN_FOLDER / "library").with_suffix(suffix), text


class GoldenTest(unittest.TestCase):
    def test_the_code_reads_as_before(self):
        for path, actual in golden_files():
            expected = path.read_text()
            if actual != expected:
                lines = difflib.unified_diff(
                    expected.splitlines(), actual.splitlines(), "expected", "made", lineterm=""
                )
                self.fail("\n".join(["run this test with --update if that is right:", *lines]))


class TextTest(unittest.TestCase):
    """The code that a proto of a few lines becomes."""

    def generated(self, text):
        with tempfile.TemporaryDirectory() as folder:
            content = f'syntax = "proto3";\n{text}'.encode("utf-8", "surrogateescape")
            (Path(folder) / "twins.proto").write_bytes(content)
            return generated("twins.proto", folder)

    def includes(self, text):
        return [re.findall('#include ["<](.*)[">]', made) for made in self.generated(text)]

    def test_only_what_is_needed_is_included(self):
        own = ["span", "rpc/client/client.h", "rpc/service.h"]
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
                ["twins.corolane.h", "array", "chrono", "utility", "rpc/wire/frame.h"],
            ],
        )
        self.assertEqual(
            self.includes("message M {} service Twins {" + stream + "}"),
            [
                ["span", *sorted([*calls, "rpc/stream.h"])],
                ["twins.corolane.h", "array", "chrono", "rpc/wire/frame.h"],
            ],
        )

    def test_objects_include_the_framework_and_no_client(self):
        ours = ["framework/objects/object.h", "framework/routing/router.h"]
        own = ["span", "string", "utility", *ours]
        objects = (
            'import "rpc/options.proto"; message M {} service Twins {'
            'option (corolane.object).state = "M"; %s} %s'
        )
        unary = "rpc Eat(M) returns (M);"
        calls = ["rpc/context.h", "rpc/service.h", "twins.pb.h"]
        self.assertEqual(
            self.includes(objects % ("", "")),
            [[*own, "rpc/service.h", "twins.pb.h"], ["twins.corolane.h"]],
        )
        self.assertEqual(
            self.includes(objects % (unary, ""))[0],
            [*own[:3], "coroutine/base/result.h", *own[3:], *calls],
        )
        self.assertIn("rpc/client/client.h", self.includes(objects % (unary, "service Inn {}"))[0])

    def test_a_header_explains_its_use(self):
        plain = "registers it with rpc::Server::add()"
        of_objects = "registers it with framework::Node::host()"
        inn = "service Inn {}"
        twins = (
            'import "rpc/options.proto"; message M {} '
            'service Twins { option (corolane.object).state = "M"; }'
        )
        for text, expected in ((inn, [1, 0]), (twins, [0, 1]), (twins + inn, [1, 1])):
            header, _ = self.generated(text)
            words = " ".join(header.replace("//", "").split())
            self.assertEqual([words.count(plain), words.count(of_objects)], expected)

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
            "  // A heading.\n"
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
        options = 'import "rpc/options.proto";' if "(corolane." in methods else ""
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
        self.assertEqual(first, "--corolane_out: nothing is generated until this is fixed:")
        self.assertEqual(lines, list(problems))
        self.assertEqual(process.returncode, 1)
        self.assertEqual(generated, [])

    def test_a_stream_of_requests_is_neither_one_way_nor_retried(self):
        self.assert_problems(
            "  rpc Upload(stream M) returns (M) { option (corolane.method).idempotent = true; }\n"
            "  rpc Tell(stream M) returns (M) { option (corolane.method).one_way = true; }",
            "twins.proto:6:38: Upload: idempotent: streams are never retried; leave it out",
            "twins.proto:7:36: Tell: one_way: it is called with a stream; leave one of the two out",
        )

    def test_objects_take_no_streams(self):
        self.assert_problems(
            '  option (corolane.object).state = "M";\n'
            "  rpc Upload(stream M) returns (M);",
            "twins.proto:7:14: Upload is called with a stream, which would block all other calls "
            "of its object; let callers call once for each message, or let a service take the "
            "stream",
        )

    def test_a_one_way_method_has_no_reply(self):
        self.assert_problems(
            "  rpc Tell(M) returns (M) { option (corolane.method).one_way = true; }\n"
            "  rpc Watch(M) returns (stream M) { option (corolane.method).one_way = true; }",
            "twins.proto:6:24: Tell is one_way, so no caller gets its test.M; "
            "let it return google.protobuf.Empty, or leave one_way out",
            "twins.proto:7:37: Watch: one_way: it replies with a stream; leave one of the two out",
        )

    def test_only_calls_that_are_answered_once_are_retried(self):
        self.assert_problems(
            "  rpc Tell(M) returns (google.protobuf.Empty) {\n"
            "    option (corolane.method).one_way = true;\n"
            "    option (corolane.method).idempotent = true;\n"
            "  }\n"
            "  rpc Watch(M) returns (stream M) { option (corolane.method).idempotent = true; }",
            "twins.proto:8:5: Tell: idempotent: one-way calls are never retried; leave it out",
            "twins.proto:10:37: Watch: idempotent: streams are never retried; leave it out",
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
            "the maximum that a request can carry",
        )

    def test_the_longest_timeout_is_for_clients_and_not_below_the_usual_one(self):
        self.assert_problems(
            '  rpc Eat(M) returns (M) { option (corolane.method).timeout_max = "1min"; }\n'
            "  rpc Nap(M) returns (M) {\n"
            '    option (corolane.method) = {public: true, timeout: "1min", timeout_max: "5s"};\n'
            "  }\n"
            "  rpc Sit(M) returns (M) {\n"
            '    option (corolane.method) = {public: true, timeout_max: "0s"};\n'
            "  }",
            "twins.proto:6:28: Eat: timeout_max: it bounds clients, which call public methods "
            "only; leave it out",
            'twins.proto:8:5: Nap: timeout_max: "5s" is less than the timeout, 1min',
            'twins.proto:11:5: Sit: timeout_max: "0s" would end every call at once; '
            "leave it out for 10s",
        )

    def test_a_stack_has_a_size_of_the_pool(self):
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

    def test_a_method_is_not_a_keyword(self):
        self.assert_problems(
            "  rpc Delete(M) returns (M);\n  rpc CoAwait(M) returns (M);",
            'twins.proto:6:7: Delete becomes "delete" in C++, which is a keyword; rename it',
            'twins.proto:7:7: CoAwait becomes "co_await" in C++, which is a keyword; rename it',
        )

    def test_a_method_is_not_a_macro(self):
        self.assert_problems(
            "  rpc Assert(M) returns (M);",
            'twins.proto:6:7: Assert becomes "assert" in C++, '
            "which is a macro of the C library; rename it",
        )

    def test_a_package_has_no_keywords(self):
        self.assert_problems(
            "  rpc Eat(M) returns (M);",
            'twins.proto:2:1: package fast.new.concept: "new" is a keyword of C++ '
            "and cannot be a namespace; rename it",
            'twins.proto:2:1: package fast.new.concept: "concept" is a keyword of C++ '
            "and cannot be a namespace; rename it",
            package="fast.new.concept",
        )

    def test_a_method_is_not_a_member_of_every_generated_class(self):
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

    def test_objects_have_a_state_message(self):
        missing = "state: which message do these objects keep? An empty one, if they keep nothing"
        self.assert_problems(
            "  option (corolane.object) = {};", f"twins.proto:6:3: Twins: {missing}"
        )
        self.assert_problems(
            '  option (corolane.object).state = "";', f"twins.proto:6:3: Twins: {missing}"
        )
        for name in (
            "Diary",
            "M.Diary",
            "other.M",
            ".M",  # With a dot it is a full name.
            "Kind",
            "Twins",
            "google.protobuf.FileOptions",  # In a file that is imported indirectly.
        ):
            self.assert_problems(
                f'  option (corolane.object) = {{state: "{name}"}};',
                f'twins.proto:6:3: Twins: state: "{name}" is not a message of this file '
                "or of one that it imports",
                rest="enum Kind { NONE = 0; }\n",
            )

    def test_objects_are_called_with_no_streams(self):
        self.assert_problems(
            '  option (corolane.object).state = "M";\n  rpc Sum(stream M) returns (M);',
            "twins.proto:7:11: Sum is called with a stream, which would block all other calls of "
            "its object; let callers call once for each message, or let a service take the stream",
        )

    def test_objects_publish_a_message(self):
        self.assert_problems(
            '  option (corolane.object) = {state: "M", publishes: "Event"};',
            'twins.proto:6:3: Twins: publishes: "Event" is not a message of this file '
            "or of one that it imports",
        )

    def test_the_members_of_publishing_objects_are_not_methods(self):
        names = ("Position", "Publish", "Subscribe")
        self.assert_problems(
            '  option (corolane.object) = {state: "M", publishes: "M"};\n'
            + "\n".join(f"  rpc {name}(M) returns (M);" for name in names),
            *(
                f'twins.proto:{line}:7: {name} becomes "{name.lower()}" in C++, '
                "which generated classes have already; rename it"
                for line, name in enumerate(names, start=7)
            ),
        )

    def test_durable_methods_change_something_and_reply(self):
        self.assert_problems(
            '  option (corolane.object).state = "M";\n'
            "  rpc Look(M) returns (M) {\n"
            "    option (corolane.method) = {durable: true, read_only: true};\n"
            "  }\n"
            "  rpc Tell(M) returns (google.protobuf.Empty) {\n"
            "    option (corolane.method).durable = true;\n"
            "    option (corolane.method).one_way = true;\n"
            "  }",
            "twins.proto:8:5: Look: durable: a read_only method has nothing to store; "
            "leave one of the two out",
            "twins.proto:11:5: Tell: durable: a one_way method has no reply that could wait for "
            "the store; leave one of the two out",
        )

    def test_only_objects_have_a_state(self):
        hint = (
            "is for objects; give Twins an `option (corolane.object).state`, or leave it out"
        )
        self.assert_problems(
            "  rpc Eat(M) returns (M) { option (corolane.method).durable = true; }\n"
            "  rpc Look(M) returns (M) { option (corolane.method).read_only = true; }",
            f"twins.proto:6:28: Eat: durable: {hint}",
            f"twins.proto:7:29: Look: read_only: {hint}",
        )

    def test_a_method_of_objects_is_not_a_member_of_all_objects(self):
        names = (
            *("Change", "Comments", "Deactivate", "Destroy", "Follow", "Id", "Id_", "Methods"),
            *("ObjectType", "OnActivate", "OnDeactivate", "OnReminder", "Outbox", "OutboxSize"),
            *("Outside", "Reminders", "Router", "Router_", "Save", "ServiceName", "State"),
            *("StateMessage", "Timers", "WaitUntil", "WallClock"),
        )
        members = (
            *("change", "comments", "deactivate", "destroy", "follow", "id", "id_", "methods"),
            *("object_type", "on_activate", "on_deactivate", "on_reminder", "outbox"),
            *("outbox_size", "outside", "reminders", "router", "router_", "save"),
            *("service_name", "state", "state_message", "timers", "wait_until", "wall_clock"),
        )
        self.assert_problems(
            '  option (corolane.object).state = "M";\n'
            + "\n".join(f"  rpc {name}(M) returns (M);" for name in names),
            *(
                f'twins.proto:{line}:7: {name} becomes "{member}" in C++, '
                "which generated classes have already; rename it"
                for line, (name, member) in enumerate(zip(names, members), start=7)
            ),
        )

    def test_other_services_may_use_the_names_of_object_members(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "twins.proto").write_text(
                'syntax = "proto3";\nimport "rpc/options.proto";\nmessage M {}\n'
                "service Twins {\n"
                "  rpc Id(M) returns (M);\n  rpc State(M) returns (M);\n}\n"
                "message TwinsObject {}\n"
                'service Silent {\n  option (corolane.object).state = "M";\n'
                "  rpc Publish(M) returns (M);\n  rpc Position(M) returns (M);\n}\n"
            )
            process = generate("twins.proto", folder, folder)
        self.assertEqual((process.stderr, process.returncode), ("", 0))

    def test_methods_have_ids_of_their_own(self):
        # Found by a search of some ten billion names.
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

    def test_the_generated_classes_of_objects_need_free_names(self):
        self.assert_problems(
            '  option (corolane.object).state = "M";',
            "twins.proto:5:9: Twins becomes the class TwinsObject in C++, "
            "a name that is taken already; rename one of them",
            rest="message TwinsObject {}\nmessage TwinsBase {}\n",
        )

    def test_all_problems_of_a_file_are_found_in_its_order(self):
        self.assert_problems(
            "  rpc Delete(M) returns (M) {\n"
            '    option (corolane.method) = {timeout: "soon", stack_size: "1B"};\n'
            "  }\n"
            "  rpc New(M) returns (M);",
            'twins.proto:6:7: Delete becomes "delete" in C++, which is a keyword; rename it',
            'twins.proto:7:5: Delete: timeout: read "soon"; '
            "expected a duration, such as 250ms or 1.5h (units: ns, us, ms, s, min, h, d)",
            'twins.proto:7:5: Delete: stack_size: "1B" is not between 16KiB and 2MiB',
            'twins.proto:9:7: New becomes "new" in C++, which is a keyword; rename it',
        )

    def test_all_files_are_checked(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("one", "two"):
                (Path(folder) / f"{name}.proto").write_text(
                    f'syntax = "proto3";\nmessage {name} {{}}\n'
                    f"service S{name} {{ rpc New({name}) returns ({name}); }}\n"
                )
            process = generate("one.proto", folder, folder, also=["two.proto"])
        self.assertEqual(
            process.stderr,
            "--corolane_out: nothing is generated until this is fixed:\n"
            'one.proto:3:20: New becomes "new" in C++, which is a keyword; rename it\n'
            'two.proto:3:20: New becomes "new" in C++, which is a keyword; rename it\n',
        )

    def test_the_plugin_takes_no_parameter(self):
        with tempfile.TemporaryDirectory() as folder:
            process = generate(LIBRARY, f"lite:{folder}")
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
