#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tools/setup installs only the missing packages, and otherwise changes nothing.

The package manager is a stand-in that records its calls: the test installs nothing.
"""

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SETUP = Path(__file__).resolve().parents[2] / "tools/setup"

# Commands that tools/setup may call besides the stand-ins.
REAL_COMMANDS = ("bash", "cat", "env", "grep", "sed")

# The version of Boost in the names of packages.
IS_DEBIAN_12 = "VERSION_ID=\"12\"" in Path("/etc/os-release").read_text()
BOOST = "1.81" if IS_DEBIAN_12 else "1.83"


def packages(function):
    """The packages that a function of the script lists."""
    found = re.search(rf"^{function}\(\) {{\n  cat <<'?LIST'?\n(.*?)^LIST$", SETUP.read_text(),
                      re.MULTILINE | re.DOTALL)
    return [line.split()[0].replace("$boost", BOOST) for line in found[1].splitlines()]


BUILD_PACKAGES = packages("packages_to_build_and_run")
ALL_BUT_CMAKE = [package for package in BUILD_PACKAGES if package != "cmake"]
CLUSTER_PACKAGES = packages("packages_to_run_a_cluster")
DOCS_PACKAGES = packages("packages_to_document")
# Both need Python; it is installed once.
TEST_PACKAGES = list(
    dict.fromkeys(CLUSTER_PACKAGES + packages("packages_to_test") + DOCS_PACKAGES)
)
BENCH_PACKAGES = packages("packages_to_bench")
FUZZ_PACKAGES = packages("packages_to_fuzz")


class SetupTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.bin = Path(folder.name)
        self.calls = self.bin / "calls"
        for command in REAL_COMMANDS:
            (self.bin / command).symlink_to(shutil.which(command))
        for command in ("apt-get", "sudo"):
            self.stand_in(command, f'echo "{command} $*" >> {self.calls}')
        self.stand_in("id", "echo 0")

    def stand_in(self, command, script):
        path = self.bin / command
        path.write_text(f"#!{shutil.which('bash')}\n{script}\n")
        path.chmod(0o755)

    def run_setup(self, *options, installed=(), removed=(), script=SETUP):
        lines = [f"installed {package}" for package in installed]
        lines += [f"config-files {package}" for package in removed]
        self.stand_in("dpkg-query", "cat <<'LIST'\n" + "\n".join(lines) + "\nLIST")
        environment = {"PATH": str(self.bin)}
        return subprocess.run(
            [script, *options], capture_output=True, text=True, check=False, env=environment
        )

    def calls_made(self):
        return self.calls.read_text().splitlines() if self.calls.exists() else []

    def test_with_everything_installed_it_does_nothing_and_says_so(self):
        process = self.run_setup(installed=BUILD_PACKAGES)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(process.stdout, "tools/setup: nothing to do: all packages are installed\n")
        self.assertEqual(self.calls_made(), [])

    def test_it_updates_and_then_installs_only_the_missing_packages(self):
        missing = " ".join(BUILD_PACKAGES[:2])
        process = self.run_setup(installed=BUILD_PACKAGES[2:])
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertIn(f"installing {missing}\n", process.stdout)
        update, install = self.calls_made()
        self.assertTrue(update.endswith(" update"), update)
        self.assertRegex(install, f" install .*--no-install-recommends {re.escape(missing)}$")

    def test_cluster_packages_are_installed_on_demand(self):
        self.run_setup("--cluster", installed=BUILD_PACKAGES)
        self.assertTrue(self.calls_made()[1].endswith("recommends " + " ".join(CLUSTER_PACKAGES)))

    def test_test_packages_are_installed_on_demand(self):
        self.run_setup("--tests", installed=BUILD_PACKAGES)
        self.assertTrue(self.calls_made()[1].endswith(" ".join(TEST_PACKAGES)))

    def test_documentation_packages_are_installed_on_demand(self):
        self.run_setup("--docs", installed=BUILD_PACKAGES)
        self.assertTrue(self.calls_made()[1].endswith("recommends " + " ".join(DOCS_PACKAGES)))

    def test_benchmark_packages_are_installed_on_demand(self):
        self.run_setup("--bench", installed=BUILD_PACKAGES)
        self.assertTrue(self.calls_made()[1].endswith("recommends " + " ".join(BENCH_PACKAGES)))

    def test_fuzzing_packages_are_installed_on_demand(self):
        self.run_setup("--fuzz", installed=BUILD_PACKAGES)
        self.assertTrue(self.calls_made()[1].endswith("recommends " + " ".join(FUZZ_PACKAGES)))

    def test_packages_of_every_check_are_installed_at_once(self):
        self.run_setup("--full", installed=BUILD_PACKAGES)
        everything = " ".join(dict.fromkeys([*TEST_PACKAGES, *FUZZ_PACKAGES, "gcovr"]))
        self.assertTrue(self.calls_made()[1].endswith("recommends " + everything))

    def test_test_and_benchmark_packages_are_installed_at_once(self):
        self.run_setup("--tests", "--bench", installed=BUILD_PACKAGES)
        everything = " ".join(TEST_PACKAGES + BENCH_PACKAGES)
        self.assertTrue(self.calls_made()[1].endswith("recommends " + everything))

    def test_a_package_that_was_removed_but_not_purged_is_missing(self):
        self.run_setup(installed=ALL_BUT_CMAKE, removed=["cmake"])
        self.assertTrue(self.calls_made()[1].endswith("--no-install-recommends cmake"))

    def test_a_package_with_a_longer_name_does_not_count(self):
        self.run_setup(installed=["cmake-data", *ALL_BUT_CMAKE])
        self.assertTrue(self.calls_made()[1].endswith("--no-install-recommends cmake"))

    def test_libraries_for_another_processor_are_unpacked_once_into_a_folder(self):
        root = self.bin / "tree"
        (root / "tools").mkdir(parents=True)
        setup = Path(shutil.copy(SETUP, root / "tools/setup"))
        for command in ("dirname", "find", "ln", "mkdir", "readlink", "rm", "touch"):
            (self.bin / command).symlink_to(shutil.which(command))
        self.stand_in("apt-get", f"""echo "apt-get $*" >> {self.calls}
for word; do [[ $word != Dir::Cache=* ]] || archives=${{word#*=}}/archives; done
[[ $* != *--download-only* ]] || touch "$archives/one.deb"
""")
        self.stand_in("dpkg-deb", 'mkdir "$3/lib"; ln -s /lib/libone.so.1 "$3/lib/libone.so"')
        packages_of_arch = ["g++-aarch64-linux-gnu", "qemu-user"]
        for run in range(2):
            process = self.run_setup(
                "--arch", "arm64", installed=[*BUILD_PACKAGES, *packages_of_arch], script=setup
            )
            self.assertEqual(process.returncode, 0, process.stderr)
            self.assertEqual("unpacking the libraries" in process.stdout, run == 0)
        update, download = self.calls_made()
        self.assertIn("APT::Architecture=arm64", update)
        self.assertRegex(download, r" install .*--download-only .* libuv1-dev .* tzdata ")
        self.assertNotIn(" ninja-build ", download)
        link = root / "build/arm64-sysroot/lib/libone.so"
        self.assertEqual(str(link.readlink()), "libone.so.1")
        self.assertFalse((root / "build/arm64-apt").exists())

    def test_a_failing_installation_fails_and_names_the_packages(self):
        self.stand_in("apt-get", '[[ "$*" != *install* ]]')
        process = self.run_setup(installed=ALL_BUT_CMAKE)
        self.assertEqual(process.returncode, 1)
        self.assertRegex(process.stderr, "apt-get install failed; .* of Debian 12 and 13: cmake$")

    def test_without_a_package_manager_it_explains(self):
        environment = {"PATH": str(self.bin)}
        process = subprocess.run(
            [SETUP], capture_output=True, text=True, check=False, env=environment
        )
        self.assertEqual(process.returncode, 1)
        self.assertIn("this is not Debian", process.stderr)

    def test_a_user_other_than_root_uses_sudo(self):
        self.stand_in("id", "echo 1000")
        process = self.run_setup(installed=ALL_BUT_CMAKE)
        self.assertEqual(process.returncode, 0, process.stderr)
        update, install = self.calls_made()
        self.assertRegex(update, "^sudo env DEBIAN_FRONTEND=noninteractive apt-get .* update$")
        self.assertRegex(install, "^sudo env DEBIAN_FRONTEND=noninteractive apt-get .* cmake$")

    def test_without_root_and_sudo_it_names_the_packages_to_ask_for(self):
        self.stand_in("id", "echo 1000")
        (self.bin / "sudo").unlink()
        process = self.run_setup(installed=ALL_BUT_CMAKE)
        self.assertEqual(process.returncode, 1)
        self.assertIn("needs root or sudo; have these packages installed: cmake", process.stderr)
        self.assertEqual(self.calls_made(), [])

    def test_an_unknown_argument_is_refused(self):
        process = self.run_setup("--everything")
        self.assertEqual(process.returncode, 2)
        self.assertIn("unknown argument '--everything'", process.stderr)


if __name__ == "__main__":
    unittest.main()
