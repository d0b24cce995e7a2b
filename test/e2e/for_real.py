# SPDX-License-Identifier: MIT
"""What the tests share that run the files of deploy/ for real: an image, a service manager, a
validator.

A machine may lack a program, the network or a right for that. Then the test prints
`could not run: WHAT: REASON`, and ctest counts it as skipped, not as passed.
"""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Kept between runs: root file systems, images, compiled files.
WORK = ROOT / "build/deploy"

SKIPPED = 77  # What SKIP_RETURN_CODE is in CMakeLists.txt.
INSIDE = "COROLANE_TEST_IN_NAMESPACES"
CGROUPS = Path("/sys/fs/cgroup")
MIRRORED = ("Debian", "Debian-Security")  # The labels of Debian's own archives.


def ran(text):
    print(f"ran for real: {text}", flush=True)


def could_not_run(what, reason):
    print(f"could not run: {what}: {reason}", flush=True)
    raise unittest.SkipTest(f"{what}: {reason}")


def needs(what, *programs):
    for program in programs:
        if shutil.which(program) is None:
            could_not_run(what, f"{program} is missing; tools/setup --deploy installs it")
    if os.geteuid() != 0:
        could_not_run(what, "it needs root")


def command(*words, timeout=120, **options):
    """Runs it. Returns its output and errors as one text, and its status."""
    process = subprocess.run(
        list(map(str, words)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=timeout,
        **options,
    )
    return process.stdout, process.returncode


def last_line(text):
    return (text.strip().splitlines() or ["it printed nothing"])[-1]


def wait_until(what, condition, seconds=60):
    """Returns the first true value of the condition."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.1)
    return value


def sources(codename):
    """From where this machine installs its Debian packages, for a release: lines of apt."""
    mine = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    form = "$(LABEL)|$(REPO_URI)|$(CODENAME)|$(COMPONENT)"
    output, _ = command("apt-get", "indextargets", "--format", form, "Created-By: Packages")
    lines = set()
    for fields in map(str.strip, output.splitlines()):
        label, address, suite, component = fields.split("|")
        if label in MIRRORED and (suite == mine or suite.startswith(f"{mine}-")):
            lines.add(f"deb {address} {codename}{suite.removeprefix(mine)} {component}\n")
    return "".join(sorted(lines))


def proxies():
    """The options with which mmdebstrap uses the proxies of this machine's apt, if it has any."""
    for key in ("Acquire::http::Proxy", "Acquire::https::Proxy"):
        value, _ = command("apt-config", "dump", "--format", "%v%n", key)
        if value.strip():
            yield f'--aptopt={key} "{value.strip()}"'


def debian_root(what, name, packages, codename=None):
    """Returns an archive of a root file system that has these packages and what every Debian has.
    It is made once for a list.
    """
    needs(what, "mmdebstrap", "apt-get")
    codename = codename or platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    archives = sources(codename)
    if not archives:
        could_not_run(what, "apt has no list of Debian packages; apt-get update fetches it")
    folder = WORK / "roots"
    folder.mkdir(parents=True, exist_ok=True)
    wanted = "\n".join([codename, archives, *sorted(packages)])
    archive = folder / f"{name}-{hashlib.sha256(wanted.encode()).hexdigest()[:12]}.tar"
    if archive.exists():
        return archive
    for old in folder.glob(f"{name}-*.tar"):
        old.unlink()
    process = subprocess.run(
        [
            *("mmdebstrap", "--variant=minbase", "--format=tar", *proxies()),
            *(f"--include={package}" for package in sorted(packages)),
            *(codename, "-", "-"),
        ],
        input=archives.encode(),
        capture_output=True,
        check=False,
        timeout=1800,
    )
    if process.returncode:
        could_not_run(what, f"mmdebstrap: {last_line(process.stderr.decode())}")
    partial = archive.with_suffix(".partial")
    partial.write_bytes(process.stdout)
    partial.rename(archive)
    ran(f"mmdebstrap made {name}: Debian {codename}, {len(process.stdout) / 1e6:.0f} MB")
    return archive


def enter_namespaces(what):
    """Starts the program again in namespaces of its own, in which all ports are free, control
    groups are those of version 2, and every process ends with this one. Returns there.
    """
    options = ("--net", "--mount", "--cgroup", "--pid", "--fork", "--kill-child", "--mount-proc")
    if os.environ.get(INSIDE) != "yes":
        needs(what, "unshare", "ip")
        output, status = command("unshare", *options, "true")
        if status:
            could_not_run(what, f"no namespaces of its own: {last_line(output)}")
        os.environ[INSIDE] = "yes"
        os.execvp("unshare", ["unshare", *options, sys.executable, *sys.argv])
    command("umount", "--recursive", CGROUPS)
    for words in (
        ("ip", "link", "set", "lo", "up"),
        ("mount", "-t", "tmpfs", "tmpfs", "/run"),
        ("mount", "-t", "cgroup2", "cgroup2", CGROUPS),
    ):
        output, status = command(*words)
        if status:
            could_not_run(what, f"{words[0]}: {last_line(output)}")


def remove_cgroups(*names):
    """Removes those that are below this one and have no process."""
    for name in names:
        for folder, _, _ in os.walk(CGROUPS / name, topdown=False):
            try:
                os.rmdir(folder)
            except OSError:
                pass


def main(prepare, arguments=()):
    """The main function of a test: `prepare` may say that it could not run, too."""
    try:
        prepare()
    except unittest.SkipTest:
        sys.exit(SKIPPED)
    result = unittest.main(argv=[sys.argv[0], *arguments], exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(SKIPPED if result.skipped else 0)
