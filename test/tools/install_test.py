#!/usr/bin/env python3
"""What a build installs, as its user meets it: a project that `corolane new` has written finds it,
builds, passes its test and serves; and what the Debian package has.

Called with the folder of the build.
"""

import concurrent.futures
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from installed import environment, install, run

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path()

# Of those whose packages need not be named: every Debian with C++ programs has them.
EVERYWHERE = {"libc6", "libgcc-s1", "libstdc++6"}


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.prefix = cls.folder / "prefix"
        cls.headers = cls.prefix / "include/corolane"
        cls.corolane = cls.prefix / "bin/corolane"
        install(BUILD, cls.prefix)


class PrefixTest(Installed):
    def test_what_a_header_includes_is_installed_too(self):
        for header in self.headers.rglob("*.h"):
            for included in re.findall(r'^#include "(.+)"', header.read_text(), re.MULTILINE):
                self.assertTrue((self.headers / included).is_file(), f"{included} of {header}")

    def test_headers_compile_alone(self):
        sample = (
            "config/loader.h",
            "coroutine/channel.h",
            "framework/run_main.h",
            "net/http_server.h",
            "rpc/reflection.corolane.h",
            "test/support/matchers.h",
        )
        flags = ("-std=c++23", "-fsyntax-only", "-x", "c++", "-isystem", self.headers)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda name: run("g++", *flags, self.headers / name), sample))

    def test_private_headers_stay_behind(self):
        self.assertFalse((self.headers / "framework/store/detail").exists())
        self.assertFalse((self.headers / "rpc/codegen").exists())

    def test_nothing_of_the_tree_is_named(self):
        for file in (self.prefix / "lib/cmake").rglob("*.cmake"):
            self.assertNotIn(str(ROOT), file.read_text(), file)

    def test_the_manual_has_the_help_of_each_command(self):
        manual = (self.prefix / "share/man/man1/corolane.1").read_text().replace("\\-", "-")
        for command in ("new", "call", "stats", "completion"):
            first_line = run(self.corolane, "help", command).splitlines()[0]
            self.assertIn(f".SH {command.upper()}\n.nf\n{first_line}\n", manual)

    def test_the_completion_is_that_of_the_command(self):
        completion = self.prefix / "share/bash-completion/completions/corolane"
        self.assertEqual(completion.read_text(), run(self.corolane, "completion", "bash"))


class NewProjectTest(Installed):
    """Builds the project once."""

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

    def test_its_node_serves_and_its_bots_play(self):
        node = subprocess.Popen(
            [
                *("build/debug/demo_node", "--config", "demo.yaml"),
                *("--set", "node.listen=127.0.0.1:0", "--set", "node.admin=127.0.0.1:0"),
            ],
            cwd=self.project, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self.addCleanup(node.stdout.close)
        self.addCleanup(node.kill)
        address = re.search(r"serves on (\S+),", node.stdout.readline())[1]
        donate = ("call", address, "Guild/Donate", '{"gold": 5}', "--object", "lions")
        self.assertEqual(json.loads(run(self.corolane, *donate)), {"gold": "5"})
        played = run("build/debug/demo_bot", address, "3", cwd=self.project)
        self.assertTrue(played.startswith("3 bots, 300 calls in "), played)
        node.send_signal(signal.SIGTERM)
        self.assertEqual(node.wait(timeout=60), 0)

    def test_the_image_has_the_libraries_of_the_node(self):
        node = self.project / "build/debug/demo_node"
        needed = re.findall(r"NEEDED.*\[(.+)\]", run("readelf", "--dynamic", node))
        owners = run("dpkg", "--search", *(f"*/{library}" for library in needed))
        packages = {line.split(":")[0] for line in owners.splitlines()} - EVERYWHERE
        image = (self.project / "Dockerfile").read_text().rpartition("FROM ")[2].split()
        self.assertEqual(packages - set(image), set())


class PackageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        run("cpack", "-G", "DEB", "-B", folder.name, cwd=BUILD)
        (cls.package,) = Path(folder.name).glob("corolane_*.deb")

    def test_it_has_what_a_prefix_has(self):
        listed = run("dpkg-deb", "--contents", self.package).splitlines()
        paths = [line.split()[5].removeprefix("./") for line in listed]
        for path in (
            *("usr/bin/corolane", "usr/bin/protoc-gen-corolane", "usr/share/man/man1/corolane.1"),
            *("usr/lib/corolane/libcorolane_framework.a", "usr/include/corolane/rpc/options.proto"),
            *("usr/lib/cmake/corolane/corolane-config.cmake",),
        ):
            self.assertIn(path, paths)
        self.assertEqual([path for path in paths if not path.startswith("usr/")], [])

    def test_it_brings_what_programs_are_built_with(self):
        depends = run("dpkg-deb", "--field", self.package, "Depends")
        packages = [word.split()[0] for word in depends.split(", ")]
        known = (ROOT / "tools/setup").read_text()
        for package in packages:
            if package.endswith("-dev"):
                self.assertIn(f"\n{package} ", known)
        for package in ("g++", "cmake", "protobuf-compiler", "libprotobuf-dev", "libprotobuf32"):
            self.assertIn(package, packages)


if __name__ == "__main__":
    BUILD = Path(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
