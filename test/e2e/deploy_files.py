# SPDX-License-Identifier: MIT
"""The files of deploy/, read: for the tests of them."""

import functools
import re
import shutil
import subprocess
import sys
from pathlib import Path

try:
    import yaml
except ImportError:
    sys.exit("python3-yaml is missing; tools/setup --tests installs it")

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
SYSTEMD = DEPLOY / "systemd"
DOCKER = DEPLOY / "docker"
KUBERNETES = DEPLOY / "kubernetes"
PROMETHEUS = DEPLOY / "prometheus"


def run(*command, **options):
    """Returns output and errors as one text, and the exit status."""
    command = [str(word) for word in command]
    if shutil.which(command[0]) is None:
        sys.exit(f"{command[0]} is missing; tools/setup --tests installs it")
    process = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=120,
        **options,
    )
    return process.stdout, process.returncode


@functools.cache
def load(path):
    return yaml.safe_load(path.read_text())


@functools.cache
def load_all(path):
    return [document for document in yaml.safe_load_all(path.read_text()) if document]


def seconds(text):
    number, unit = re.fullmatch(r"(\d+)(s|min)", text).groups()
    return int(number) * {"s": 1, "min": 60}[unit]


def port(address):
    return int(address.rpartition(":")[2])


def readme_commands(heading):
    """The commands of a chapter of deploy/README.md, as one text."""
    text = (DEPLOY / "README.md").read_text()
    chapter = re.search(rf"^## {heading}$(.*?)^## ", text, re.M | re.S)
    return re.search(r"^```\n(.*?)^```$", chapter[1], re.M | re.S)[1]


def compose():
    return load(DOCKER / "compose.yaml")


def resources():
    """The files that `kubectl apply -k` applies."""
    return [KUBERNETES / name for name in load(KUBERNETES / "kustomization.yaml")["resources"]]


def manifests():
    """All manifests by kind and name."""
    return by_name(manifest for path in resources() for manifest in load_all(path))


def by_name(documents):
    return {(entry["kind"], entry["metadata"]["name"]): entry for entry in documents}


def pod():
    return manifests()["StatefulSet", "chess"]["spec"]["template"]["spec"]


def container(name):
    return next(entry for entry in pod()["containers"] if entry["name"] == name)
