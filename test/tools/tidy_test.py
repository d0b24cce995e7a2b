#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/tidy accepts a small tree that keeps its rules, and reports each violation of one."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "test/e2e"))

import harness  # pylint: disable=wrong-import-position

REPOSITORY = Path(__file__).resolve().parents[2]

HEADER = "// A header.\n#pragma once\n"
SOURCE = "// A source.\n"


class TidyTest(unittest.TestCase):
    """Each test writes files into a tree of its own and runs that tree's copy of tools/tidy."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for path in ("tools/tidy", ".clang-format", ".clang-tidy"):
            (self.root / path).parent.mkdir(exist_ok=True)
            shutil.copy(REPOSITORY / path, self.root / path)

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def write_build(self, *sources, compiler="c++"):
        """Writes a build tree that compiles those sources."""
        command = f"ccache {compiler} -std=c++23 -Wall -Werror -I. -c {{0}} -o {{0}}.o"
        entries = [
            {"directory": str(self.root), "command": command.format(path), "file": path}
            for path in sources
        ]
        self.write("build/debug/compile_commands.json", json.dumps(entries))

    def run_tidy(self, *options, **environment):
        return subprocess.run(
            [self.root / "tools/tidy", *options],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | environment,
        )

    def assert_finds(self, expected, *options):
        """Expects exactly one finding, which begins with `expected`: `file:line: message`."""
        process = self.run_tidy(*options)
        findings = [line for line in process.stdout.splitlines() if not line.startswith("tidy: ")]
        self.assertEqual(len(findings), 1, process.stdout + process.stderr)
        self.assertTrue(findings[0].startswith(expected), findings[0])
        self.assertEqual(process.returncode, 1)

    def assert_content(self, *options):
        process = self.run_tidy(*options)
        self.assertEqual(process.returncode, 0, process.stdout + process.stderr)
        self.assertIn("no findings", process.stdout)


class LayersTest(TidyTest):
    def test_an_include_that_points_down_is_fine(self):
        self.write("net/tcp.cc", SOURCE + '#include "coroutine/base/error.h"\n')
        self.assert_content()

    def test_an_include_that_points_up_is_found(self):
        self.write("net/tcp.cc", SOURCE + '#include "framework/node/node.h"\n')
        self.assert_finds("net/tcp.cc:2: net may not include framework")

    def test_base_does_not_depend_on_coroutine(self):
        self.write("coroutine/base/error.cc", SOURCE + '#include "coroutine/task.h"\n')
        self.assert_finds("coroutine/base/error.cc:2: coroutine/base may not include coroutine")

    def test_config_does_not_depend_on_coroutine(self):
        self.write("config/loader.cc", SOURCE + '#include "coroutine/task.h"\n')
        self.assert_finds("config/loader.cc:2: config may not include coroutine,")

    def test_only_tools_and_tests_include_test(self):
        include = '#include "test/fixtures/clock.h"\n'
        self.write("tools/corolane/main.cc", SOURCE + include)
        self.assert_content()
        self.write("services/chess/main.cc", SOURCE + include)
        self.assert_finds("services/chess/main.cc:2: services may not include test")

    def test_the_rules_of_chess_do_not_depend_on_corolane(self):
        self.write("services/chess/rules/board.cc", SOURCE + '#include "coroutine/base/error.h"\n')
        self.assert_finds("services/chess/rules/board.cc:2: services/chess/rules may not include")

    def test_a_service_includes_its_rules(self):
        self.write("services/chess/room.cc", SOURCE + '#include "services/chess/rules/board.h"\n')
        self.assert_content()

    def test_an_include_path_not_from_the_root_is_found(self):
        self.write("net/tcp.cc", SOURCE + '#include "tcp.h"\n')
        self.assert_finds('net/tcp.cc:2: "tcp.h" is in no module')

    def test_a_template_project_includes_its_own_files(self):
        self.write("tools/corolane/templates/guild.cc", SOURCE + '#include "guild.corolane.h"\n')
        self.assert_content()
        self.write("tools/corolane/guild.cc", SOURCE + '#include "guild.corolane.h"\n')
        self.assert_finds('tools/corolane/guild.cc:2: "guild.corolane.h" is in no module')

    def test_own_headers_in_angle_brackets_are_found(self):
        self.write("net/tcp.h", HEADER)
        self.write("net/tcp.cc", SOURCE + "#include <net/tcp.h>\n")
        self.assert_finds("net/tcp.cc:2: <net/tcp.h> is ours")

    def test_a_foreign_detail_folder_is_private(self):
        self.write("net/tcp.cc", SOURCE + '#include "coroutine/stack/detail/context.h"\n')
        self.assert_finds("net/tcp.cc:2: coroutine/stack/detail/context.h is private to coroutine")

    def test_a_module_and_its_own_tests_see_its_detail_folder(self):
        include = '#include "coroutine/stack/detail/context.h"\n'
        self.write("coroutine/task.cc", SOURCE + include)
        self.write("test/coroutine/task_test.cc", SOURCE + include)
        self.assert_content()

    def test_the_tests_of_another_module_do_not_see_it(self):
        self.write("test/net/tcp_test.cc", SOURCE + '#include "coroutine/stack/detail/context.h"\n')
        self.assert_finds("test/net/tcp_test.cc:2: coroutine/stack/detail/context.h is private")


class RoomsTest(TidyTest):
    """Folders inside a module, and the arrows between them."""

    def test_a_room_includes_itself_and_rooms_below_it(self):
        below = ("coroutine/task.h", "framework/objects/object.h", "framework/store/store.h")
        includes = "".join(f'#include "{path}"\n' for path in below)
        self.write("framework/objects/detail/object_host.cc", SOURCE + includes)
        self.assert_content()

    def test_an_arrow_from_a_room_to_one_above_it_is_named(self):
        include = '#include "framework/routing/router.h"\n'
        self.write("framework/objects/detail/object_host.cc", SOURCE + include)
        self.assert_finds(
            "framework/objects/detail/object_host.cc:2: "
            "framework/objects may not include framework/routing, a room above it"
        )

    def test_the_folder_of_the_module_itself_is_a_room(self):
        self.write("coroutine/sync/mutex.h", HEADER + '#include "coroutine/task.h"\n')
        self.assert_content()
        self.write("coroutine/scheduler.cc", SOURCE + '#include "coroutine/sync/mutex.h"\n')
        self.assert_finds(
            "coroutine/scheduler.cc:2: coroutine/. may not include coroutine/sync, a room above it"
        )

    def test_a_new_folder_needs_a_place_among_the_rooms(self):
        self.write("rpc/quic/stream.cc", SOURCE)
        self.assert_finds("rpc/quic/stream.cc:1: rpc/quic is no room of rpc yet")

    def test_headers_for_tests_are_for_tests_and_tools(self):
        include = '#include "coroutine/testing/random.h"\n'
        for path in ("net/testing/network.cc", "test/net/tcp_test.cc", "tools/simulation/run.cc"):
            self.write(path, SOURCE + include)
            self.assert_content()
        self.write("net/tcp.cc", SOURCE + include)
        self.assert_finds("net/tcp.cc:2: coroutine/testing/random.h is for tests")


class LibrariesTest(TidyTest):
    """Each library in a file that may include it, and in one that may not."""

    CASES = (
        ("boost/context/detail/fcontext.hpp", "coroutine/stack/detail/jump.h", "coroutine/task.cc"),
        ("boost/beast/http.hpp", "framework/admin/admin.cc", "framework/admin/admin.h"),
        ("boost/asio/ssl.hpp", "net/tls/tls.cc", "net/detail/tls.h"),
        ("nlohmann/json.hpp", "tools/corolane/main.cc", "tools/corolane/json.h"),
        ("uv.h", "net/uv/detail/handle.h", "net/tcp.h"),
        ("uv.h", "net/uv/tcp.cc", "rpc/server/server.cc"),
        ("google/protobuf/message.h", "rpc/client/client.h", "net/tcp.cc"),
        ("google/protobuf/message.h", "services/chess/room.h", "config/loader.cc"),
        ("google/protobuf/message.h", "framework/objects/object.h", "framework/node/node.h"),
        ("yaml-cpp/yaml.h", "config/loader.cc", "config/loader.h"),
        ("spdlog/spdlog.h", "framework/telemetry/log.cc", "framework/telemetry/log.h"),
        ("absl/time/time.h", "framework/time/time_zone.cc", "framework/time/cron.cc"),
        ("gtest/gtest.h", "coroutine/testing/leaks.h", "tools/corolane/main.cc"),
    )

    def test_each_library_is_seen_only_where_it_belongs(self):
        for library, at_home, abroad in self.CASES:
            with self.subTest(library=library, abroad=abroad):
                include = f"#include <{library}>\n"
                self.write(at_home, (HEADER if at_home.endswith(".h") else SOURCE) + include)
                self.assert_content()
                self.write(abroad, (HEADER if abroad.endswith(".h") else SOURCE) + include)
                line = 3 if abroad.endswith(".h") else 2
                self.assert_finds(f"{abroad}:{line}: <{library}> belongs in ")
                (self.root / abroad).unlink()

    def test_an_unknown_library_needs_a_row_in_the_table(self):
        self.write("net/tls/tls.cc", SOURCE + "#include <wslay/wslay.h>\n")
        self.assert_finds("net/tls/tls.cc:2: <wslay/wslay.h> is of an unknown library")

    def test_the_headers_of_system_and_language_are_free(self):
        self.write("net/tcp.cc", SOURCE + "#include <sys/socket.h>\n\n#include <vector>\n")
        self.assert_content()


class FilesTest(TidyTest):
    def test_a_source_may_leave_its_purpose_to_its_own_header(self):
        self.write("net/tcp.cc", '#include "net/tcp.h"\n')
        self.write("test/net/tcp_test.cc", '#include "net/tcp.h"\n')
        self.assert_content()

    def test_a_source_that_opens_with_another_include_is_found(self):
        self.write("net/tcp.cc", '#include "net/stream.h"\n')
        self.assert_finds("net/tcp.cc:1: opens without saying what the file is for")

    def test_a_licence_is_no_purpose(self):
        licence = "// SPDX-License-Identifier: MIT\n"
        self.write("net/tcp.cc", licence + '#include "net/tcp.h"\n')
        self.write("net/stream.h", "// A stream.\n//\n" + licence + "#pragma once\n")
        self.assert_content()
        self.write("net/tcp.cc", licence + '#include "net/stream.h"\n')
        self.assert_finds("net/tcp.cc:2: opens without saying what the file is for")

    def test_a_source_without_the_licence_of_its_tree_is_found(self):
        self.write("net/tcp.cc", SOURCE)
        self.write("LICENSE", "MIT License\n")
        self.write("tools/corolane/templates/guild.cc", SOURCE)
        text = (self.root / "tools/tidy").read_text()
        self.assertIn("SPDX-License-Identifier: MIT", text[:100])
        self.assert_finds("net/tcp.cc:1: names no licence")
        self.write("net/tcp.cc", "// SPDX-License-Identifier: MIT\n" + SOURCE)
        self.assert_content()

    def test_a_header_without_a_purpose_is_found(self):
        self.write("net/tcp.h", "#pragma once\n")
        self.assert_finds("net/tcp.h:1: opens without saying what the file is for")

    def test_a_script_without_a_purpose_is_found(self):
        self.write("tools/bench", "#!/usr/bin/env bash\nset -e\n")
        self.assert_finds("tools/bench:2: opens without saying what the file is for")

    def test_an_empty_file_is_found(self):
        self.write("net/CMakeLists.txt", "")
        self.assert_finds("net/CMakeLists.txt:1: opens without saying what the file is for")

    def test_a_header_without_pragma_once_is_found(self):
        self.write("net/tcp.h", "// A header.\n")
        self.assert_finds("net/tcp.h:1: may be included twice")

    def test_a_line_of_100_columns_is_the_longest(self):
        self.write(".ci/run", "#!/bin/sh\n#" + "x" * 99 + "\n")
        self.assert_content()
        self.write(".ci/run", "#!/bin/sh\n#" + "x" * 100 + "\n")
        self.assert_finds(".ci/run:2: 101 columns")

    def test_a_file_of_800_lines_is_the_longest(self):
        self.write("net/tcp.cc", SOURCE * 800)
        self.assert_content()
        self.write("net/tcp.cc", SOURCE * 801)
        self.assert_finds("net/tcp.cc:801: 801 lines")

    def test_unfinished_work_is_found(self):
        for word in ("TO" + "DO", "FIX" + "ME"):
            self.write("rpc/options.proto", f"// Options.\n\n// {word}: the rest.\n")
            self.assert_finds(f"rpc/options.proto:3: {word} is unfinished work")

    def test_data_and_build_trees_are_not_checked(self):
        for folder in ("test/data", "build/debug", ".cache"):
            self.write(f"{folder}/x.h", "int x;\n")
        self.assert_content()


class PagesTest(TidyTest):
    """Markdown pages, and the links between them."""

    def test_a_link_to_a_file_a_folder_or_another_host_is_fine(self):
        self.write("net/README.md", "# net\n")
        self.write("net/tls/README.md", "[net](../README.md), [again](/net), [self](#a)\n# A\n")
        self.write("README.md", "[net](net/README.md), [folder](net), [web](https://a.b/c.md#d)\n")
        self.assert_content()

    def test_a_link_to_a_file_that_does_not_exist_is_found(self):
        self.write("README.md", "# corolane\n\nSee [net](net/README.md).\n")
        self.assert_finds("README.md:3: the link net/README.md leads nowhere")

    def test_a_link_out_of_the_tree_is_found(self):
        self.write("README.md", "See [others](../README.md).\n")
        self.assert_finds("README.md:1: the link ../README.md leads nowhere")

    def test_a_link_to_a_missing_heading_is_found(self):
        self.write("net/README.md", "# net\n\n## Unix sockets\n")
        self.write("README.md", "[sockets](net/README.md#unix-sockets), [here](net#net)\n")
        self.assert_content()
        self.write("README.md", "[sockets](net/README.md#sockets)\n")
        self.assert_finds("README.md:1: the link net/README.md#sockets names no heading of net/")
        self.write("README.md", "[sockets](net#sockets)\n")
        self.assert_finds("README.md:1: the link net#sockets names no heading of net/README.md")

    def test_anchors_are_those_of_github(self):
        headings = "# What `tools/run` prints, in C++\n## Bounds\n## Bounds\n## A_b [c](d.md) - e\n"
        self.write("d.md", 'It is <a name="there"></a>there.\n')
        self.write("page.md", headings)
        anchors = ("what-toolsrun-prints-in-c", "bounds", "bounds-1", "a_b-c---e")
        links = "".join(f"[a](page.md#{anchor})\n" for anchor in anchors)
        self.write("README.md", links + "[b](d.md#there)\n")
        self.assert_content()

    def test_a_picture_is_a_link(self):
        for picture in ("![A map](map.svg)", '<img alt="A map" src="map.svg">'):
            self.write("README.md", picture + "\n")
            self.assert_finds("README.md:1: the link map.svg leads nowhere")
        self.write("map.svg", "<svg/>\n")
        self.assert_content()

    def test_code_has_no_links(self):
        self.write("README.md", "`a[i](x)` is code, and so is\n```cpp\na[i](x);\n```\n")
        self.assert_content()

    def test_a_heading_in_a_code_block_is_no_anchor(self):
        self.write("README.md", "[a](#a)\n```sh\n# a\n```\n")
        self.assert_finds("README.md:1: the link #a names no heading")

    def test_a_file_that_a_table_lists_but_does_not_exist_is_found(self):
        self.write("net/uv/detail/handle.h", HEADER)
        table = "| file | content |\n|---|---|\n| `detail/handle.h` | not `loop.h` |\n"
        self.write("net/uv/README.md", table)
        self.assert_content()
        self.write("net/uv/README.md", table + "| `loop.h`, `detail/handle.h` | a loop |\n")
        self.assert_finds("net/uv/README.md:4: loop.h does not exist; list the files as they are")

    def test_a_page_of_200_lines_is_the_longest(self):
        self.write(".github/NOTES.md", "a\n" * 200)
        self.assert_content()
        self.write(".github/NOTES.md", "a\n" * 201)
        self.assert_finds(".github/NOTES.md:201: 201 lines, at most 200")


class FormatTest(TidyTest):
    UNFORMATTED = SOURCE + "int  answer( );\nint  question( );\n"

    def test_a_wrong_layout_is_found_once_per_file(self):
        self.write("net/tcp.cc", self.UNFORMATTED)
        self.assert_finds("net/tcp.cc:2: clang-format would change it")

    def test_fix_formats(self):
        self.write("net/tcp.cc", self.UNFORMATTED)
        self.assert_content("--fix")
        text = (self.root / "net/tcp.cc").read_text()
        self.assertEqual(text, SOURCE + "int answer();\nint question();\n")

    def test_a_broken_style_is_not_reported_as_a_formatted_tree(self):
        self.write("net/tcp.cc", SOURCE)
        self.write(".clang-format", "BasedOnStyle: Nobody\n")
        self.assertEqual(self.run_tidy().returncode, 2)

    def test_a_missing_formatter_is_not_reported_as_a_formatted_tree(self):
        bin_folder = self.root / "bin"
        bin_folder.mkdir()
        (bin_folder / "python3").symlink_to(shutil.which("python3"))
        process = self.run_tidy(PATH=str(bin_folder))
        self.assertEqual(process.returncode, 2)
        self.assertIn("clang-format-19 is missing; tools/setup --tests", process.stderr)


class HeadersTest(TidyTest):
    ANSWER = HEADER + '#include "net/answer.h"\n\ninline Answer answer() { return 42; }\n'

    def test_a_header_that_needs_another_one_before_it_is_found(self):
        self.write("net/answer.h", HEADER + "inline Answer answer() { return 42; }\n")
        self.write("net/answer.cc", "// An answer.\nusing Answer = int;\n")
        self.write_build("net/answer.cc")
        self.assert_finds("net/answer.h:1: does not compile alone: 'Answer' does not name a type")
        self.assert_content("--quick")

    @harness.needs("clang++-19")
    def test_a_generated_header_that_clang_misses_must_be_built(self):
        self.write("net/answer.h", HEADER + '#include "net/reply.pb.h"\n')
        self.write("net/answer.cc", '#include "net/answer.h"\n')
        self.write_build("net/answer.cc", compiler="clang++-19")
        missing = "'net/reply.pb.h' file not found"
        self.assert_finds(f"net/answer.h:1: does not compile alone: {missing}; build the tree")

    def test_a_header_that_users_do_not_include_may_need_others_before_it(self):
        header = HEADER + "inline Answer answer() { return 42; }\n"
        self.write("net/answer.cc", SOURCE)
        self.write_build("net/answer.cc")
        for folder in ("tools/bots", "test/net", "net/detail"):
            self.write(f"{folder}/answer.h", header)
            self.assert_content()
        self.write("framework/testing/answer.h", header)
        self.assert_finds("framework/testing/answer.h:1: does not compile alone")

    def test_a_header_that_the_build_has_compiled_alone_is_not_compiled_again(self):
        self.write("net/answer.h", HEADER + "inline Answer answer() { return 42; }\n")
        self.write("net/answer.cc", '#include "net/answer.h"\n')
        self.write("net/answer.cc.o", "")
        self.write_build("net/answer.cc")
        self.assert_content()

    def test_a_header_that_was_not_compiled_alone_is_compiled_nevertheless(self):
        expected = "net/answer.h:1: does not compile alone"
        self.write("net/answer.cc.o", "")
        self.write("net/answer.h", HEADER + "inline Answer answer() { return 42; }\n")
        self.write("net/answer.cc", SOURCE + 'using Answer = int;\n\n#include "net/answer.h"\n')
        self.write_build("net/answer.cc")
        self.assert_finds(expected)
        self.write("net/answer.cc", '#include "net/answer.h"\n')
        os.utime(self.root / "net/answer.cc.o", (1, 1))
        self.assert_finds(expected)

    def test_a_forced_include_does_not_make_a_header_compile_alone(self):
        self.write("net/answer.h", HEADER + "inline Answer answer() { return 42; }\n")
        self.write("net/answer.cc", '#include "net/answer.h"\n')
        self.write("net/before.h", HEADER + "using Answer = int;\n")
        self.write("net/answer.cc.o", "")
        self.write_build("net/answer.cc", compiler="c++ -include net/before.h")
        self.assert_finds("net/answer.h:1: does not compile alone: 'Answer' does not name a type")

    def test_an_unchanged_header_is_compiled_again_when_what_it_includes_changes(self):
        self.write("net/answer.h", HEADER + "using Answer = int;\n")
        self.write("net/ask.h", self.ANSWER)
        self.write("net/ask.cc", '#include "net/ask.h"\n')
        self.write_build("net/ask.cc")
        self.assert_content()
        self.assert_content()
        self.write("net/answer.h", HEADER + "using Reply = int;\n")
        self.assert_finds("net/ask.h:1: does not compile alone: 'Answer' does not name a type")

    def test_a_header_is_compiled_with_the_flags_of_its_nearest_source(self):
        self.write("net/tcp.h", HEADER + "inline int port() { return PORT; }\n")
        self.write("net/tcp.cc", '#include "net/tcp.h"\n')
        self.write("rpc/wire/frame.cc", SOURCE)
        command = "c++ -I. {1} -c {0} -o {0}.o"
        entries = [
            {"directory": str(self.root), "command": command.format(path, flag), "file": path}
            for path, flag in (("rpc/wire/frame.cc", ""), ("net/tcp.cc", "-DPORT=80"))
        ]
        self.write("build/debug/compile_commands.json", json.dumps(entries))
        self.assert_content()

    def test_sources_of_a_unity_build_give_flags_but_no_proof(self):
        self.write("net/port.h", HEADER + "inline Port port() { return PORT; }\n")
        self.write("net/port.cc", SOURCE + 'using Port = int;\n\n#include "net/port.h"\n')
        united = "build/debug/net/Unity/unity_0_cxx.cxx"
        self.write(united, f'#include "{self.root}/net/port.cc"\n')
        self.write(united + ".o", "")
        self.write_build(united, compiler="c++ -DPORT=80")
        self.assert_finds("net/port.h:1: does not compile alone: 'Port' does not name a type")
        self.write("net/port.h", HEADER + "inline int port() { return PORT; }\n")
        self.write("net/port.cc", '#include "net/port.h"\n')
        self.assert_content()

    def test_a_folder_that_is_not_a_build_tree_is_refused(self):
        process = self.run_tidy("--build", "build/nowhere")
        self.assertEqual(process.returncode, 2)
        self.assertIn("is not a build tree", process.stderr)


class ClangTidyTest(TidyTest):
    def test_names_in_a_wrong_style_are_found_on_demand(self):
        self.write("net/tcp.h", HEADER + "inline int portOf() { return 80; }\n")
        self.write("net/tcp.cc", '#include "net/tcp.h"\n')
        self.write_build("net/tcp.cc")
        self.assert_content()
        self.assert_finds("net/tcp.h:3: invalid case style for function 'portOf'", "--clang-tidy")

    def test_only_the_named_folders_are_read(self):
        for folder in ("net", "rpc"):
            self.write(f"{folder}/port.cc", SOURCE + "int portOf() { return 80; }\n")
        self.write_build("net/port.cc", "rpc/port.cc")
        process = self.run_tidy("--clang-tidy", "rpc")
        self.assertIn("rpc/port.cc:2: invalid case style", process.stdout)
        self.assertNotIn("net/port.cc", process.stdout)

    def test_sources_of_a_unity_build_are_read_at_once(self):
        for folder in ("net", "rpc"):
            self.write(f"{folder}/port.cc", SOURCE + f"int {folder}Port() {{ return 80; }}\n")
        united = "build/debug/net/Unity/unity_0_cxx.cxx"
        includes = [f'#include "{self.root}/{folder}/port.cc"\n' for folder in ("net", "rpc")]
        self.write(united, "".join(includes))
        self.write_build(united)
        process = self.run_tidy("--clang-tidy")
        self.assertIn("net/port.cc:2: invalid case style for function 'netPort'", process.stdout)
        self.assertIn("rpc/port.cc:2: invalid case style for function 'rpcPort'", process.stdout)
        self.assertEqual(process.stdout.count("tidy: clang-tidy-19 reads 2 files"), 1)
        self.assertNotIn("suspicious", process.stdout)
        self.assertNotIn("net/port.cc", self.run_tidy("--clang-tidy", "rpc").stdout)

    def test_names_of_the_system_are_not_ours(self):
        text = "#include <sys/socket.h>\n\nint listen(int a, int b) { return a + b; }\n"
        self.write("net/port.cc", SOURCE + text)
        self.write_build("net/port.cc")
        self.assert_content("--clang-tidy")

    def test_a_folder_without_compiled_files_is_refused(self):
        self.write("net/port.cc", SOURCE)
        self.write_build("net/port.cc")
        process = self.run_tidy("--clang-tidy", "nte")
        self.assertEqual(process.returncode, 2)
        self.assertIn("compiles no file of the folder nte", process.stderr)

    def test_names_in_our_style_are_accepted(self):
        text = (
            "#include <memory>\n\n"
            "class StackPool {\n public:\n  struct Options {\n    int count_max = 1;\n  };\n"
            "  explicit StackPool(Options options) : count_max_(options.count_max) {}\n"
            "  int count_max() const { return count_max_; }\n\n"
            " private:\n  static constexpr int reserve = 64;\n  int count_max_ = reserve;\n};\n"
            "enum class Code { not_found };\n"
            "template <typename T>\ninline constexpr bool is_code = false;\n"
        )
        self.write("net/pool.h", HEADER + text)
        self.write("net/pool.cc", '#include "net/pool.h"\n')
        self.write_build("net/pool.cc")
        self.assert_content("--clang-tidy")

    def test_a_source_that_does_not_compile_is_not_reported_as_clean(self):
        self.write("net/tcp.cc", SOURCE + "int port = nowhere;\n")
        self.write_build("net/tcp.cc")
        self.assert_finds("net/tcp.cc:2: use of undeclared identifier", "--clang-tidy")

    def test_flags_that_only_gcc_knows_are_no_findings(self):
        self.write("net/port.cc", SOURCE + "int port() { return 80; }\n")
        flags = "-Wlogical-op -fno-var-tracking --param=ggc-min-heapsize=1048576"
        self.write_build("net/port.cc", compiler=f"g++ {flags}")
        self.assert_content("--clang-tidy")

    def test_a_failure_outside_of_our_sources_is_named(self):
        self.write("net/port.cc", SOURCE + "int port() { return 80; }\n")
        self.write_build("net/port.cc", compiler="g++ -march=none")
        process = self.run_tidy("--clang-tidy")
        self.assertEqual(process.returncode, 2)
        self.assertRegex(process.stderr, "failed on net/port.cc: error: unknown target CPU 'none'")


if __name__ == "__main__":
    unittest.main()
