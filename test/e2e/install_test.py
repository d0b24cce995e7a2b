#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An installation as its user sees it: a project of `corolane new` finds it, builds, passes its
test and serves. Also checks the contents of the Debian package.

Called with the folder of the build.
"""

import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import harness
import image
from installed import environment, install, install_for, run

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path()


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        install_for(cls, BUILD)
        cls.headers = cls.prefix / "include/corolane"
        cls.corolane = cls.prefix / "bin/corolane"


class PrefixTest(Installed):
    def test_the_includes_of_each_header_are_installed_too(self):
        for header in self.headers.rglob("*.h"):
            for included in re.findall(r'^#include "(.+)"', header.read_text(), re.MULTILINE):
                self.assertTrue((self.headers / included).is_file(), f"{included} of {header}")

    def test_headers_compile_alone(self):
        sample = (
            "config/loader.h",
            "coroutine/sync/channel.h",
            "framework/edge/follow.h",
            "framework/run/run_main.h",
            "net/http/http_server.h",
            "rpc/reflection/reflection.corolane.h",
            "coroutine/testing/matchers.h",
            "framework/testing/simulated_test.h",
        )
        flags = ("-std=c++23", "-fsyntax-only", "-x", "c++", "-isystem", self.headers)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda name: run("g++", *flags, self.headers / name), sample))

    def test_private_headers_are_not_installed(self):
        self.assertFalse((self.headers / "framework/store/detail/sqlite.h").exists())
        self.assertFalse((self.headers / "framework/pages/detail").exists())
        self.assertFalse((self.headers / "rpc/codegen").exists())

    def test_the_cmake_files_do_not_refer_to_the_tree(self):
        for file in (self.prefix / "lib/cmake").rglob("*.cmake"):
            self.assertNotIn(str(ROOT), file.read_text(), file)

    def test_the_manual_has_the_help_of_each_command(self):
        manual = (self.prefix / "share/man/man1/corolane.1").read_text().replace("\\-", "-")
        for command in ("new", "call", "stats", "simulate", "replay", "completion"):
            first_line = run(self.corolane, "help", command).splitlines()[0]
            self.assertIn(f".SH {command.upper()}\n.nf\n{first_line}\n", manual)

    def test_the_completions_are_those_of_the_command(self):
        for shell, file in (
            ("bash", "bash-completion/completions/corolane"),
            ("fish", "fish/vendor_completions.d/corolane.fish"),
            ("zsh", "zsh/vendor-completions/_corolane"),
        ):
            completion = (self.prefix / "share" / file).read_text()
            self.assertEqual(completion, run(self.corolane, "completion", shell))

    def test_gdb_finds_the_commands_for_tasks(self):
        script = self.prefix / "share/corolane/gdb/corolane.py"
        helped = run("gdb", "-nx", "-batch", "-ex", f"source {script}", "-ex", "help corolane")
        self.assertIn("corolane tasks", helped)


class CompilerTest(Installed):
    def test_an_unsuitable_compiler_is_refused_with_alternatives(self):
        project = self.folder / "project"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(game LANGUAGES CXX)\n"
            "find_package(corolane REQUIRED)\n"
        )
        # The flag makes <expected> empty, as it is for clang++ before 19.
        configured = subprocess.run(
            [
                *("cmake", "-S", project, "-B", project / "build"),
                *("-DCMAKE_CXX_FLAGS=-D_GLIBCXX_EXPECTED", f"-DCMAKE_PREFIX_PATH={self.prefix}"),
            ],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        self.assertNotEqual(configured.returncode, 0)
        self.assertEqual(configured.stderr.count("CMake Error"), 1, configured.stderr)
        said = " ".join(configured.stderr.split())
        self.assertIn("g++ 12 and clang++ 19 have it", said)


class PartlyBuiltTest(unittest.TestCase):
    """A partly built tree with the same install rule as ours."""

    PROJECT = f"""
cmake_minimum_required(VERSION 3.25)
project(partly LANGUAGES CXX)
add_executable(server server.cc)
add_library(library STATIC library.cc)
add_custom_target(installable DEPENDS library server)
install(CODE "
  set(BUILD \\"${{PROJECT_BINARY_DIR}}\\")
  set(NEEDED \\"$<TARGET_FILE:server>;$<TARGET_FILE:library>\\")
  include(\\"{ROOT}/tools/cmake/install_needed.cmake\\")")
install(TARGETS server library)
"""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "CMakeLists.txt").write_text(self.PROJECT)
        (self.folder / "server.cc").write_text("int main() {}\n")
        (self.folder / "library.cc").write_text("int one() { return 1; }\n")
        self.build = self.folder / "build"
        run("cmake", "-S", self.folder, "-B", self.build)
        run("cmake", "--build", self.build, "--target", "server")

    def test_missing_targets_are_built_before_they_are_installed(self):
        self.assertFalse((self.build / "liblibrary.a").exists())
        install(self.build, self.folder / "prefix")
        self.assertTrue((self.folder / "prefix/bin/server").is_file())
        self.assertTrue((self.folder / "prefix/lib/liblibrary.a").is_file())

    def test_nothing_is_built_when_all_targets_exist(self):
        prefix = self.folder / "prefix"
        install(self.build, prefix)
        self.assertNotIn("Building", run("cmake", "--install", self.build, "--prefix", prefix))

    def test_nothing_is_installed_when_the_rest_does_not_compile(self):
        (self.folder / "library.cc").write_text("no C++\n")
        with self.assertRaises(AssertionError):
            install(self.build, self.folder / "prefix")
        self.assertFalse((self.folder / "prefix").exists())

    def test_the_rule_of_this_tree_covers_everything_that_is_installed(self):
        rules = (BUILD / "cmake_install.cmake").read_text()
        needed = re.search(r'set\(NEEDED "(.+)"\)', rules)[1].split(";")
        copied = re.findall(r'file\(INSTALL .* FILES "(.+?)"\)', rules)
        made = (".a", "/corolane.1", "/corolane.bash", "/corolane.fish", "/_corolane")
        built = {file for file in copied if file.endswith(made)}
        self.assertGreater(len(built), 15)
        self.assertEqual(built - set(needed), set())
        self.assertIn(str(BUILD.resolve() / "tools/corolane/corolane"), needed)


class NewProjectTest(Installed):
    """Tests of a new project, which is built once."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        run(cls.corolane, "new", "demo", cwd=cls.folder)
        cls.project = cls.folder / "demo"
        cls.built = run(
            *("cmake", "--workflow", "--preset", "debug"),
            cwd=cls.project,
            env=environment(cls.prefix, cls.folder),
        )

    def test_it_builds_without_a_warning_and_passes_its_test(self):
        self.assertNotIn("warning", self.built.lower())
        self.assertIn("100% tests passed", self.built)

    def test_its_simulated_test_runs_for_many_seeds(self):
        test = "build/debug/demo_test"
        ran = run(self.corolane, "simulate", test, "--seeds=1..8", cwd=self.project)
        self.assertIn("8 seeds, 0 failed", ran)

    def test_its_node_serves_and_its_bots_play(self):
        node = harness.Node(
            *("build/debug/demo_node", "--config", "demo.yaml"),
            errors=subprocess.DEVNULL,
            cwd=self.project,
        )
        self.addCleanup(node.process.kill)
        donate = ("call", node.listen, "Guild/Donate", '{"gold": 5}', "--object", "lions")
        self.assertEqual(json.loads(run(self.corolane, *donate)), {"gold": "5"})
        played = run("build/debug/demo_bot", node.listen, "3", cwd=self.project)
        self.assertTrue(played.startswith("3 bots, 300 calls in "), played)
        self.assertEqual(node.stop()[0], 0)

    def test_its_node_is_recorded_and_replayed(self):
        recording = self.folder / "demo.recording"
        node = harness.Node(
            *("build/debug/demo_node", "--config", "demo.yaml", "--set", "node.shards=1"),
            *("--set", f"node.record.file={recording}"),
            cwd=self.project,
        )
        self.addCleanup(node.process.kill)
        run(self.corolane, "call", node.listen, "Guild/Donate", '{"gold": 5}', "--object", "tigers")
        status, log = node.stop()
        self.assertEqual(status, 0, log)
        self.assertIn("the same trace", run(self.corolane, "replay", recording, cwd=self.project))

    def test_the_image_has_the_libraries_of_the_node(self):
        owners = image.owners_of_libraries(self.project / "build/debug/demo_node")
        self.assertIn("libuv.so.1", owners)
        dockerfile = (self.project / "Dockerfile").read_text()
        self.assertEqual(image.lacks(dockerfile, owners.values()), set())


class PackageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        run("cpack", "-G", "DEB", "-B", folder.name, cwd=BUILD)
        (cls.package,) = Path(folder.name).glob("corolane_*.deb")

    def test_it_has_the_files_of_an_installation(self):
        listed = run("dpkg-deb", "--contents", self.package).splitlines()
        paths = [line.split()[5].removeprefix("./") for line in listed]
        for path in (
            *("usr/bin/corolane", "usr/bin/protoc-gen-corolane", "usr/share/man/man1/corolane.1"),
            *("usr/lib/corolane/libcorolane_framework_node.a", "usr/share/doc/corolane/copyright"),
            *("usr/include/corolane/rpc/options.proto",),
            *("usr/lib/cmake/corolane/corolane-config.cmake", "usr/share/corolane/gdb/corolane.py"),
            *("usr/share/corolane/chess/web/index.html",
              "usr/share/corolane/chess/web/lib/corolane.js"),
            "usr/share/fish/vendor_completions.d/corolane.fish",
            *("usr/share/zsh/vendor-completions/_corolane",),
        ):
            self.assertIn(path, paths)
        self.assertEqual([path for path in paths if not path.startswith("usr/")], [])

    def test_it_depends_on_the_packages_for_building_programs(self):
        depends = run("dpkg-deb", "--field", self.package, "Depends")
        packages = [word.split()[0] for word in depends.split(", ")]
        for package in ("g++", "cmake", "protobuf-compiler", "libprotobuf-dev"):
            self.assertIn(package, packages)
        # The library of the plugin, whose version depends on the release of Debian.
        self.assertRegex(depends, r"\blibprotobuf\d+(t64)?\b")
        # Those of this release, since they have built the package.
        # Some are names that another package provides.
        provided = set(re.split(r"[ ,]+", run("dpkg-query", "-W", "-f", "${Provides}, ")))
        real = [package for package in packages if package not in provided]
        status = run("dpkg-query", "-W", "-f", "${db:Status-Status}\n", *real)
        self.assertEqual(set(status.split()), {"installed"})
        known = (ROOT / "tools/setup").read_text()
        for package in packages:
            if package.endswith("-dev"):
                name = re.sub(r"^(libboost-\w+)1\.\d+", r"\1$boost", package)
                self.assertIn(f"\n{name} ", known)

    def test_its_copyright_file_has_the_whole_licence(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        run("dpkg-deb", "--extract", self.package, folder.name)
        lines = Path(folder.name, "usr/share/doc/corolane/copyright").read_text().splitlines()
        self.assertIn("Copyright: 2026 the corolane authors", lines)
        begin = lines.index("License: Expat") + 1
        # What the tree has of others follows.
        end = lines.index("", begin)
        said = ["" if line == " ." else line.removeprefix(" ") for line in lines[begin:end]]
        license_ = (ROOT / "LICENSE").read_text()
        self.assertEqual(said, license_[license_.index("Permission is") :].splitlines())

    def test_its_maintainer_is_no_placeholder(self):
        maintainer = run("dpkg-deb", "--field", self.package, "Maintainer").strip()
        self.assertEqual(maintainer, "the corolane authors")


if __name__ == "__main__":
    BUILD = Path(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
