#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that are compiled with other flags than the library: they work, or the linker refuses
them with the reason.

Called with the compiler and the libraries: coroutine, base and their dependencies. FLAGS are those
that the package gives to a program.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = Path(__file__).resolve().parent / "flags"
COMPILER = ""
LIBRARIES = []

FLAGS = (
    *("-std=c++23", f"-I{ROOT}", "-foptimize-sibling-calls"),
    *("-fstack-clash-protection", "-fno-omit-frame-pointer"),
)
AVX512 = ("-O2", "-march=x86-64-v4")


def cpu_has(flag):
    return f" {flag} " in Path("/proc/cpuinfo").read_text()


class FlagsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.program = Path(folder.name) / "program"

    def compile(self, source, *flags, libraries=None, compiler=None):
        return subprocess.run(
            [
                *(compiler or COMPILER, *FLAGS, *flags, SOURCES / source, "-o", self.program),
                *(LIBRARIES if libraries is None else libraries),
            ],
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    def build(self, *arguments, **options):
        compiled = self.compile(*arguments, **options)
        self.assertEqual(compiled.returncode, 0, compiled.stderr)

    def run_program(self):
        return subprocess.run(
            [self.program], capture_output=True, text=True, check=False, timeout=300
        )

    def assert_runs(self, source, expected, *flags, **options):
        self.build(source, *flags, **options)
        ran = self.run_program()
        self.assertEqual((ran.stdout, ran.returncode), (expected, 0), ran.stderr)

    def test_tasks_and_coroutines_run_at_every_level_of_optimisation(self):
        for flags in (("-O0",), ("-Og",), ("-O3", "-march=native")):
            with self.subTest(flags=flags):
                self.assert_runs("tasks.cc", "task 1\ngroup ok 3\nchain 1000000\n", *flags)

    def test_a_wait_with_a_name_is_refused_with_the_reason(self):
        self.build("named_wait.cc", "-fsyntax-only", libraries=())
        refused = self.compile("named_wait.cc", "-fsyntax-only", "-DNAMED", libraries=())
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("MustBeAwaitedInTheExpressionThatMakesIt", refused.stderr)

    def test_a_program_of_clang_runs_with_the_library_of_gcc(self):
        clang = shutil.which("clang++-19")
        if clang is None:
            self.skipTest("there is no clang++-19")
        for flags in (("-O0",), ("-O1",), ("-O3",)):
            with self.subTest(flags=flags):
                expected = "task 1\ngroup ok 3\nchain 1000000\n"
                self.assert_runs("tasks.cc", expected, *flags, compiler=clang)

    def test_the_functions_of_a_program_have_names_and_lines(self):
        # Clang writes no index of the debug information.
        for compiler in filter(None, (COMPILER, shutil.which("clang++-19"))):
            with self.subTest(compiler=compiler):
                expected = "(anonymous namespace)::wait_here with its line\n"
                self.assert_runs("names.cc", expected, "-O1", "-g", compiler=compiler)

    def test_registers_survive_a_switch(self):
        self.assert_runs("registers.cc", "", "-O2")

    def test_values_of_functions_that_make_no_call_survive_a_switch(self):
        # The compiler would keep them in the red zone, below the stack pointer.
        for flags in (("-O0",), ("-O1",), ("-O2",), ("-O3", "-march=native")):
            with self.subTest(flags=flags):
                self.assert_runs("registers.cc", "", *flags, "-mred-zone", "-fomit-frame-pointer")

    def test_no_value_lies_below_the_stack_pointer_at_a_jump(self):
        self.build("one_jump.cc", *AVX512, "-mred-zone", "-fomit-frame-pointer", "-S", libraries=())
        assembler = self.program.read_text()
        function = assembler.partition("over_jump")[2].partition(".cfi_endproc")[0]
        # One place, named by the compiler in its own way, is that of our own two words.
        below = re.findall(r"-((?:0x)?\d+)\(%rsp\)", function)
        self.assertEqual([int(place, 0) for place in below], [0x38])

    def test_the_registers_of_avx512_survive_a_switch(self):
        self.build("registers.cc", *AVX512)
        if not all(cpu_has(flag) for flag in ("avx512f", "avx512bw", "avx512dq", "avx512vl")):
            self.skipTest("this processor has no AVX-512")
        ran = self.run_program()
        self.assertEqual((ran.stdout, ran.returncode), ("", 0), ran.stderr)

    def test_no_register_of_avx512_holds_a_value_across_the_jump(self):
        self.build("one_jump.cc", *AVX512, "-S", libraries=())
        assembler = self.program.read_text()
        self.assertIn("xmm0", assembler)
        self.assertEqual(re.findall(r"%[xyz]mm(?:1[6-9]|2\d|3[01])", assembler), [])
        # A mask is in its register before the jump, and is reloaded from the stack after it.
        mask = assembler.partition("mask_over_jump")[2].partition(".cfi_endproc")[0]
        before, _, behind = mask.rpartition("#NO_APP")
        self.assertIn("%k", before)
        uses = [line for line in behind.splitlines() if "%k" in line]
        for use in uses[:1]:
            self.assertRegex(use, r"kmovw\s+-?\d*\(%r[bs]p\), %k")

    def test_no_compiler_drops_what_fetches_memory_ahead(self):
        for compiler in filter(None, (COMPILER, shutil.which("clang++-19"))):
            with self.subTest(compiler=compiler):
                self.build("fetch_ahead.cc", "-O2", "-S", libraries=(), compiler=compiler)
                assembler = self.program.read_text()
                self.assertGreaterEqual(len(re.findall(r"\b(?:prefetch|prfm)", assembler)), 6)

    def test_a_program_with_another_sanitizer_than_the_library_is_refused_by_name(self):
        # Also when the linker drops unreferenced sections.
        flags = ("-O0", "-fdata-sections", "-Wl,--gc-sections")
        for sanitizer in ("address", "thread"):
            with self.subTest(sanitizer=sanitizer):
                linked = self.compile("tasks.cc", *flags, f"-fsanitize={sanitizer}")
                self.assertNotEqual(linked.returncode, 0)
                reason = f"corolane_library_is_built_without_{sanitizer}_sanitizer"
                self.assertIn(reason, linked.stderr)

    def test_the_sanitizer_of_undefined_behaviour_needs_no_library_of_its_own(self):
        flags = ("-O0", "-fsanitize=undefined", "-fno-sanitize-recover=all")
        self.assert_runs("tasks.cc", "task 1\ngroup ok 3\nchain 1000000\n", *flags)

    def test_an_older_standard_is_refused_with_the_required_compilers(self):
        compiled = self.compile("base.cc", "-std=c++20", "-fsyntax-only")
        self.assertNotEqual(compiled.returncode, 0)
        first = next(line for line in compiled.stderr.splitlines() if "error:" in line)
        self.assertIn("g++ 12 or clang++ 19", first)

    def test_no_object_of_the_library_claims_to_support_a_shadow_stack(self):
        for library in (part for part in LIBRARIES if "corolane" in part):
            with self.subTest(library=library):
                notes = subprocess.run(
                    ["readelf", "--notes", library], capture_output=True, text=True, check=True
                ).stdout
                self.assertNotIn("SHSTK", notes)
                self.assertNotIn("IBT", notes)

    def test_base_alone_works_with_a_sanitizer(self):
        base = [library for library in LIBRARIES if "corolane_base" in library]
        self.assert_runs("base.cc", "1\n", "-fsanitize=address", libraries=base)


if __name__ == "__main__":
    COMPILER, *LIBRARIES = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
