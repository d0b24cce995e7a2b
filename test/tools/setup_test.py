#!/usr/bin/env python3
"""tools/setup installs what is missing, only that, and does not touch anything otherwise.

The package manager is a stand-in that writes down how it was called: the test changes nothing.
"""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SETUP = Path(__file__).resolve().parents[2] / "tools/setup"

# What tools/setup may call besides the stand-ins.
REAL_COMMANDS = ("bash", "cat", "env", "grep", "sed")

BUILD_PACKAGES = (
    "cmake ninja-build ccache g++ pkg-config libboost1.81-dev libboost-context1.81-dev "
    "libdw-dev libuv1-dev libssl-dev openssl libprotobuf-dev libprotoc-dev protobuf-compiler "
    "libyaml-cpp-dev libspdlog-dev libsqlite3-dev libhiredis-dev nlohmann-json3-dev rapidjson-dev "
    "libabsl-dev tzdata libsystemd-dev libgtest-dev libgmock-dev"
).split()
CLUSTER_PACKAGES = ["etcd-server", "redis-server", "python3"]
TEST_PACKAGES = (
    "etcd-server redis-server python3 clang-format-19 clang-tidy-19 python3-websockets curl "
    "chromium prometheus systemd python3-yaml gdb procps etcd-client file dpkg-dev valgrind"
).split()
BENCH_PACKAGES = ["libboost-fiber1.81-dev", "libgrpc++-dev", "protobuf-compiler-grpc"]
FUZZ_PACKAGES = ["clang-19", "libclang-rt-19-dev"]


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

    def run_setup(self, *options, installed=(), removed=()):
        lines = [f"installed {package}" for package in installed]
        lines += [f"config-files {package}" for package in removed]
        self.stand_in("dpkg-query", "cat <<'LIST'\n" + "\n".join(lines) + "\nLIST")
        environment = {"PATH": str(self.bin)}
        return subprocess.run(
            [SETUP, *options], capture_output=True, text=True, check=False, env=environment
        )

    def calls_made(self):
        return self.calls.read_text().splitlines() if self.calls.exists() else []

    def test_with_everything_installed_it_does_nothing_and_says_so(self):
        process = self.run_setup(installed=BUILD_PACKAGES)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(process.stdout, "tools/setup: nothing to do: all packages are installed\n")
        self.assertEqual(self.calls_made(), [])

    def test_it_updates_and_then_installs_what_is_missing_and_only_that(self):
        process = self.run_setup(installed=BUILD_PACKAGES[2:])
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertIn("installing cmake ninja-build\n", process.stdout)
        update, install = self.calls_made()
        self.assertTrue(update.endswith(" update"), update)
        self.assertRegex(install, " install .*--no-install-recommends cmake ninja-build$")

    def test_what_a_cluster_needs_is_installed_on_demand(self):
        self.run_setup("--cluster", installed=BUILD_PACKAGES)
        self.assertTrue(self.calls_made()[1].endswith("recommends " + " ".join(CLUSTER_PACKAGES)))

    def test_what_the_tests_need_is_installed_on_demand(self):
        self.run_setup("--tests", installed=BUILD_PACKAGES)
        self.assertTrue(self.calls_made()[1].endswith(" ".join(TEST_PACKAGES)))

    def test_what_the_benchmarks_need_is_installed_on_demand(self):
        self.run_setup("--bench", installed=BUILD_PACKAGES)
        self.assertTrue(self.calls_made()[1].endswith("recommends " + " ".join(BENCH_PACKAGES)))

    def test_what_fuzzing_needs_is_installed_on_demand(self):
        self.run_setup("--fuzz", installed=BUILD_PACKAGES)
        self.assertTrue(self.calls_made()[1].endswith("recommends " + " ".join(FUZZ_PACKAGES)))

    def test_what_tests_and_benchmarks_need_is_installed_at_once(self):
        self.run_setup("--tests", "--bench", installed=BUILD_PACKAGES)
        everything = " ".join(TEST_PACKAGES + BENCH_PACKAGES)
        self.assertTrue(self.calls_made()[1].endswith("recommends " + everything))

    def test_a_package_that_was_removed_but_not_purged_is_missing(self):
        self.run_setup(installed=BUILD_PACKAGES[1:], removed=BUILD_PACKAGES[:1])
        self.assertTrue(self.calls_made()[1].endswith("--no-install-recommends cmake"))

    def test_a_package_whose_name_begins_alike_does_not_count(self):
        self.run_setup(installed=["cmake-data", *BUILD_PACKAGES[1:]])
        self.assertTrue(self.calls_made()[1].endswith("--no-install-recommends cmake"))

    def test_a_failing_installation_fails_and_names_the_packages(self):
        self.stand_in("apt-get", '[[ "$*" != *install* ]]')
        process = self.run_setup(installed=BUILD_PACKAGES[1:])
        self.assertEqual(process.returncode, 1)
        self.assertRegex(process.stderr, "apt-get install failed; .* of Debian 12: cmake$")

    def test_without_a_package_manager_it_explains(self):
        environment = {"PATH": str(self.bin)}
        process = subprocess.run(
            [SETUP], capture_output=True, text=True, check=False, env=environment
        )
        self.assertEqual(process.returncode, 1)
        self.assertIn("this is no Debian", process.stderr)

    def test_who_is_not_root_uses_sudo(self):
        self.stand_in("id", "echo 1000")
        process = self.run_setup(installed=BUILD_PACKAGES[1:])
        self.assertEqual(process.returncode, 0, process.stderr)
        update, install = self.calls_made()
        self.assertRegex(update, "^sudo env DEBIAN_FRONTEND=noninteractive apt-get .* update$")
        self.assertRegex(install, "^sudo env DEBIAN_FRONTEND=noninteractive apt-get .* cmake$")

    def test_without_root_and_sudo_it_names_what_to_ask_for(self):
        self.stand_in("id", "echo 1000")
        (self.bin / "sudo").unlink()
        process = self.run_setup(installed=BUILD_PACKAGES[1:])
        self.assertEqual(process.returncode, 1)
        self.assertIn("needs root or sudo; ask for these packages: cmake", process.stderr)
        self.assertEqual(self.calls_made(), [])

    def test_an_unknown_argument_is_refused(self):
        process = self.run_setup("--everything")
        self.assertEqual(process.returncode, 2)
        self.assertIn("unknown argument '--everything'", process.stderr)


if __name__ == "__main__":
    unittest.main()
