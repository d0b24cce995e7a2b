# SPDX-License-Identifier: MIT
"""The libraries of programs, and of the images that run them: for the tests of Dockerfiles."""

import os
import platform
import re
import subprocess

# Packages that need not be listed: every Debian with C++ programs has them.
EVERYWHERE = {"libc6", "libgcc-s1", "libstdc++6"}


def output_of(*command):
    # dpkg-query fails when it does not know one of several paths.
    process = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, timeout=120
    )
    return process.stdout


def owners_of_libraries(program):
    """Maps each library that the program links directly to its package."""
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "-d", program)))
    found = dict(re.findall(r"(\S+) => (/\S+)", output_of("ldd", program)))
    # dpkg knows some of them under /lib, which is a link to /usr/lib.
    paths = [found[library] for library in needed if library in found]
    paths += [f"/usr{path}" for path in paths]
    owners = {}
    for line in output_of("dpkg-query", "-S", *paths).splitlines():
        if match := re.fullmatch(r"([^:]+):.* (/\S+)", line):
            owners[os.path.basename(match[2])] = match[1]
    missing = {library for library in needed if library in found} - set(owners)
    assert not missing, f"in no package: {missing}"
    return owners


def without_version(package):
    """libyaml-cpp for libyaml-cpp0.7, libssl for libssl3t64."""
    return re.sub(r"[\d.-]+(t64)?$", "", package)


def is_on(release):
    machine = platform.freedesktop_os_release()
    return (machine["ID"], machine.get("VERSION_ID")) == ("debian", release)


def lacks(dockerfile, packages):
    """Those of the packages that the image, the last stage of the text, does not have. On another
    release of Debian than the image's the same library has another version in the name of its
    package, so there the names are compared without it.
    """
    stage = dockerfile[dockerfile.rindex("\nFROM ") :]
    release = re.match(r"\nFROM debian:(\d+)", stage)[1]
    installed = set(re.findall(r"\bz?lib[\w.+-]+", stage)) | EVERYWHERE
    if is_on(release):
        return set(packages) - installed
    libraries = {without_version(package) for package in installed}
    return {package for package in packages if without_version(package) not in libraries}
