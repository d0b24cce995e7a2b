#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The border between an installed package and a program with flags of its own: the program works,
or is refused with the reason and the remedy, by find_package() or, if that cannot see the flags, by
the linker.

Called with the folder of the build.
"""

import concurrent.futures
import os
import subprocess
import sys
import unittest
from pathlib import Path

from installed import environment, install_for

SOURCES = Path(__file__).resolve().parent / "border"
BUILD = Path()

PRINTED = "sums 152.0\nevent 1\nnested 100\n"

# Each set has a name. find_package() sees the flags of these.
SETS = {
    "debug": ("-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS=-O0 -D_GLIBCXX_ASSERTIONS"),
    "native": ("-DCMAKE_CXX_FLAGS=-O3 -march=native",),
    "lto": ("-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON"),
    "clang": ("-DCMAKE_CXX_COMPILER=clang++-19", "-DCMAKE_CXX_FLAGS=-O2"),
    "undefined": ("-DCMAKE_CXX_COMPILER=clang++-19", "-DCOROLANE_SANITIZE=undefined"),
    "address": ("-DCMAKE_CXX_FLAGS=-fsanitize=address",),
    "thread": ("-DCMAKE_CXX_FLAGS=-fsanitize=thread",),
    "debug_mode": ("-DCMAKE_CXX_FLAGS=-D_GLIBCXX_DEBUG",),
    # It does not see those of these.
    "hidden_address": ("-DFLAGS=-fsanitize=address",),
    "hidden_thread": ("-DFLAGS=-fsanitize=thread -Wl,--gc-sections",),
    "hidden_debug_mode": ("-DFLAGS=-D_GLIBCXX_DEBUG",),
}


class PackageBorderTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        install_for(cls, BUILD)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            # The name of each set, with the exit status and the output of its build.
            cls.built = dict(zip(SETS, pool.map(cls.build, SETS)))

    @classmethod
    def build(cls, name):
        build = cls.folder / name
        options = {
            "env": environment(cls.prefix, cls.folder),
            "stdout": subprocess.PIPE,
            "stderr": subprocess.STDOUT,
            "text": True,
            "check": False,
        }
        configure = ("cmake", "-G", "Ninja", "-S", SOURCES, "-B", build, *SETS[name])
        configured = subprocess.run(configure, **options)
        if configured.returncode != 0:
            return "refused by find_package", configured.stdout
        built = subprocess.run(("cmake", "--build", build), **options)
        return ("refused by the linker" if built.returncode else "built"), built.stdout

    def run_program(self, name, *arguments):
        said, output = self.built[name]
        self.assertEqual(said, "built", output)
        program = self.folder / name / "border"
        return subprocess.run(
            (program, *arguments), capture_output=True, text=True, check=False, timeout=60
        )

    def assert_works(self, name):
        ran = self.run_program(name)
        self.assertEqual((ran.stdout, ran.stderr, ran.returncode), (PRINTED, "", 0))

    def assert_refused(self, name, by, *reasons):
        said, output = self.built[name]
        self.assertEqual(said, f"refused by {by}", output)
        for reason in reasons:
            self.assertIn(reason, " ".join(output.split()))

    def test_a_debug_build_works(self):
        self.assert_works("debug")

    def test_every_instruction_of_this_processor_works(self):
        self.assert_works("native")

    def test_optimisation_at_link_time_works(self):
        self.assert_works("lto")

    def test_clang_works(self):
        self.assert_works("clang")

    def test_the_sanitizer_of_undefined_behaviour_works(self):
        self.assert_works("undefined")

    def test_the_address_sanitizer_is_refused_with_the_way_to_get_it(self):
        self.assert_refused(
            *("address", "find_package", "with the address sanitizer, tasks have other members"),
            "cmake --preset asan && cmake --build --preset asan --target installable"
            f" && cmake --install build/asan --prefix {self.prefix}",
        )
        self.assert_refused(
            *("hidden_address", "the linker"),
            "corolane_library_is_built_without_address_sanitizer_set_COROLANE_SANITIZE_in_CMake",
        )

    def test_the_thread_sanitizer_is_refused_with_the_way_to_get_it(self):
        self.assert_refused(
            *("thread", "find_package", "with the thread sanitizer, tasks have other members"),
            f"cmake --install build/tsan --prefix {self.prefix}",
        )
        self.assert_refused(
            *("hidden_thread", "the linker"),
            "corolane_library_is_built_without_thread_sanitizer_set_COROLANE_SANITIZE_in_CMake",
        )

    def test_the_debug_mode_of_the_standard_library_is_refused_with_what_to_use_instead(self):
        self.assert_refused(
            *("debug_mode", "find_package", "-D_GLIBCXX_DEBUG gives the containers"),
            "-D_GLIBCXX_ASSERTIONS checks",
        )
        self.assert_refused(
            *("hidden_debug_mode", "the linker"),
            "corolane_library_is_built_without_GLIBCXX_DEBUG_use_GLIBCXX_ASSERTIONS_instead",
        )

    def test_a_debug_build_names_the_task_that_suspends_with_a_lock(self):
        ran = self.run_program("debug", "locked")
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("no std::mutex is held where a task suspends or ends", ran.stderr)
        self.assertIn("in task holder", ran.stderr)
        # Other builds pay nothing for it.
        self.assertEqual(self.run_program("native", "locked").returncode, 0)


if __name__ == "__main__":
    BUILD = Path(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
