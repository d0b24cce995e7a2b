#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An installation that also has the libraries with sanitizers: every preset of a project of
`corolane new` passes its test and serves, and the sanitizers find what they are for.

Called with the folder of the release build, beside which those of asan and tsan are made.
"""

import json
import subprocess
import sys
import unittest
from pathlib import Path

import harness
from installed import environment, install, install_for, run

ROOT = Path(__file__).resolve().parents[2]
SOURCES = Path(__file__).resolve().parent / "border"
BUILD = Path()


class VariantsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        install_for(cls, BUILD)
        cls.corolane = cls.prefix / "bin/corolane"
        cls.environment = environment(cls.prefix, cls.folder)
        for preset in ("asan", "tsan"):
            run("cmake", "--preset", preset, cwd=ROOT)
            run("cmake", "--build", "--preset", preset, "--target", "installable", cwd=ROOT)
            install(ROOT / "build" / preset, cls.prefix)
        run(cls.corolane, "new", "demo", cwd=cls.folder)
        cls.project = cls.folder / "demo"

    def configure(self, name, *options):
        return subprocess.run(
            ("cmake", "-G", "Ninja", "-S", SOURCES, "-B", self.folder / name, *options),
            capture_output=True, text=True, check=False, env=self.environment,
        )  # fmt: skip

    def assert_refused(self, configured, reason):
        self.assertNotEqual(configured.returncode, 0)
        self.assertIn(reason, " ".join(configured.stderr.split()))

    def passes_and_serves(self, preset, *launcher):
        built = run("cmake", "--workflow", "--preset", preset, cwd=self.project,
                    env=self.environment)  # fmt: skip
        self.assertIn("100% tests passed", built)
        self.assertNotIn("warning", built.lower())

        folder = self.project / "build" / preset
        node = harness.Node(
            *launcher,
            *(folder / "demo_node", "--config", "demo.yaml"),
            *("--set", f"node.store.file={preset}.db"),
            cwd=self.project,
        )
        self.addCleanup(node.process.kill)
        donate = ("call", node.listen, "Guild/Donate", '{"gold": 5}', "--object", "lions")
        self.assertEqual(json.loads(run(self.corolane, *donate)), {"gold": "5"})
        played = run(*launcher, folder / "demo_bot", node.listen, "3", cwd=self.project)
        self.assertTrue(played.startswith("3 bots, 300 calls in "), played)
        status, log = node.stop()
        self.assertEqual(status, 0, log)
        self.assertNotIn("Sanitizer", log)

    def test_a_new_project_passes_and_serves_when_it_is_debugged(self):
        self.passes_and_serves("debug")

    def test_a_new_project_passes_and_serves_when_it_is_optimised(self):
        self.passes_and_serves("release")

    def test_a_new_project_passes_and_serves_with_the_address_sanitizer(self):
        self.passes_and_serves("asan")

    def test_a_new_project_passes_and_serves_with_the_thread_sanitizer(self):
        self.passes_and_serves("tsan", *harness.fixed_addresses())

    def test_flags_alone_choose_the_libraries_too(self):
        configured = self.configure("flags", "-DCMAKE_CXX_FLAGS=-O1 -fsanitize=address")
        self.assertEqual(configured.returncode, 0, configured.stderr)
        run("cmake", "--build", self.folder / "flags")
        program = self.folder / "flags/border"
        self.assertEqual(run(program), "sums 152.0\nevent 1\nnested 100\n")
        freed = subprocess.run((program, "freed"), capture_output=True, text=True, check=False)
        self.assertNotEqual(freed.returncode, 0)
        self.assertIn("heap-use-after-free", freed.stderr)
        self.assertIn("read_what_is_freed", freed.stderr)

    def test_another_compiler_is_refused(self):
        configured = self.configure(
            *("clang", "-DCMAKE_CXX_COMPILER=clang++-19", "-DCOROLANE_SANITIZE=address")
        )
        self.assert_refused(configured, "were compiled by GNU, and Clang has another library")

    def test_libraries_of_another_version_than_the_headers_are_refused(self):
        (facts,) = self.prefix.rglob("corolane-tsan.cmake")
        original = facts.read_text()
        self.addCleanup(facts.write_text, original)
        facts.write_text(original.replace("variant_headers ", "variant_headers another"))
        configured = self.configure("older", "-DCOROLANE_SANITIZE=thread")
        self.assert_refused(configured, "of another version than the headers")

    def test_the_package_of_a_variant_has_its_libraries_alone_and_needs_the_others(self):
        folder = self.folder / "packages"
        run("cpack", "-G", "DEB", "-B", folder, cwd=ROOT / "build/tsan")
        (package,) = folder.glob("corolane-tsan_*.deb")
        depends = run("dpkg-deb", "--field", package, "Depends").strip()
        self.assertRegex(depends, r"^corolane \(= \d+\.\d+\.\d+\)$")
        listed = run("dpkg-deb", "--contents", package).splitlines()
        files = [line.split()[5] for line in listed if not line.endswith("/")]
        for file in files:
            self.assertRegex(file, r"/corolane/tsan/lib.+\.a$|/corolane-tsan.*\.cmake$|/copyright$")
        self.assertIn("./usr/lib/corolane/tsan/libcorolane_base.a", files)


if __name__ == "__main__":
    BUILD = Path(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
