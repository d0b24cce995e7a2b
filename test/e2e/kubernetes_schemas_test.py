#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kubernetes takes the manifests of deploy/kubernetes: each file, and what kustomize makes of all.

They are compared with the schemas that Kubernetes publishes for its versions, and nothing may be
in them that a schema does not have. kubernetes_manifests_test.py compares the manifests with each
other. `tools/setup --deploy` installs the validator with its schemas, and kustomize, into
build/kubernetes.
"""

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import for_real
import yaml
from deploy_files import KUBERNETES, by_name, load, manifests, resources

TOOLS = for_real.ROOT / "build/kubernetes/bin"
OLDEST = (1, 27)


def validator():
    program = TOOLS / "kubernetes-validate"
    if not program.exists():
        for_real.could_not_run(
            "the schemas of Kubernetes",
            "kubernetes-validate is missing; tools/setup --deploy installs it",
        )
    return program


def versions():
    """Those of Kubernetes whose schemas the validator has, from the oldest that we support on."""
    folders = TOOLS.parent.glob("lib/*/site-packages/kubernetes_validate/*/v*-strict")
    found = {re.match(r"v(\d+)\.(\d+)\.", folder.name).groups() for folder in folders}
    pairs = ((int(major), int(minor)) for major, minor in found)
    return sorted(pair for pair in pairs if pair >= OLDEST)


def validate(version, *paths):
    """Returns what the validator says of each manifest."""
    major, minor = version
    output, _ = for_real.command(
        validator(), "--strict", "--kubernetes-version", f"{major}.{minor}", *paths
    )
    return output.splitlines()


def render():
    """Returns what `kubectl apply -k` would apply, as text."""
    program = TOOLS / "kustomize"
    if not program.exists():
        program = shutil.which("kustomize")
    if not program:
        for_real.could_not_run(
            "kustomize", "it is missing; tools/setup --deploy builds it where Go is installed"
        )
    process = subprocess.run(
        [program, "build", KUBERNETES], capture_output=True, text=True, check=False, timeout=120
    )
    if process.returncode:
        raise AssertionError(process.stderr)
    return process.stdout


class SchemasTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def assert_taken(self, count, *paths):
        """By each version, with a line for each manifest that says so."""
        validator()
        self.assertGreater(len(versions()), 5)
        for version in versions():
            lines = validate(version, *paths)
            self.assertEqual(len(lines), count, lines)
            for line in lines:
                self.assertRegex(line, r"^INFO .* passed for resource ")

    def supported(self):
        first, last = versions()[0], versions()[-1]
        return f"Kubernetes {first[0]}.{first[1]} to {last[0]}.{last[1]}"

    def test_each_version_takes_the_files(self):
        self.assert_taken(len(manifests()), *resources())
        for_real.ran(f"{len(manifests())} manifests fit the schemas of {self.supported()}")

    def test_each_version_takes_what_kustomize_makes_of_them(self):
        text = render()
        count = len(list(yaml.safe_load_all(text)))
        path = self.folder / "all.yaml"
        path.write_text(text)
        self.assert_taken(count, path)
        for_real.ran(f"{count} manifests made by kustomize fit the schemas of {self.supported()}")

    def refusal(self, name, old, new):
        text = (KUBERNETES / name).read_text()
        self.assertIn(old, text)
        path = self.folder / name
        path.write_text(text.replace(old, new, 1))
        return validate(versions()[-1], path)[0]

    def test_what_a_schema_does_not_have_is_refused(self):
        validator()
        said = self.refusal("stateful_set.yaml", "minReadySeconds:", "minReadySecond:")
        self.assertRegex(said, r"^ERROR .*minReadySecond")
        said = self.refusal("stateful_set.yaml", "replicas: 3", "replicas: three")
        self.assertRegex(said, r"^ERROR .*three")
        said = self.refusal("disruption_budget.yaml", "selector:", "selectors:")
        self.assertRegex(said, r"^ERROR .*selectors")


class KustomizeTest(unittest.TestCase):
    """What kustomize has put into the manifests."""

    @classmethod
    def setUpClass(cls):
        cls.made = by_name(yaml.safe_load_all(render()))

    def test_nothing_is_lost(self):
        self.assertLessEqual(set(manifests()), set(self.made))
        for (kind, name), manifest in self.made.items():
            if kind != "Namespace":
                self.assertEqual(manifest["metadata"]["namespace"], "chess", name)

    def test_the_pods_mount_the_config_maps_that_it_makes(self):
        pod = self.made["StatefulSet", "chess"]["spec"]["template"]["spec"]
        mounted = [entry["configMap"]["name"] for entry in pod["volumes"] if "configMap" in entry]
        self.assertEqual(len(mounted), 2)
        for name in mounted:
            # The hash of its contents, without which a change would not reach the pods.
            self.assertRegex(name, r"^chess-(config|agent)-[0-9a-z]{10}$")
            self.assertIn(("ConfigMap", name), self.made)
        config = self.made["ConfigMap", mounted[0]]["data"]
        self.assertEqual(config, {"chess.yaml": (KUBERNETES / "chess.yaml").read_text()})

    def test_the_pods_run_the_image_that_was_pushed(self):
        image = load(KUBERNETES / "kustomization.yaml")["images"][0]
        pod = self.made["StatefulSet", "chess"]["spec"]["template"]["spec"]
        self.assertIn(
            f"{image['newName']}:{image['newTag']}",
            [container["image"] for container in pod["containers"]],
        )

    def test_selectors_still_select_the_pods(self):
        # Labels that it adds to selectors would not be allowed to change any more.
        for key, selector in (
            (("PodDisruptionBudget", "chess"), lambda spec: spec["selector"]["matchLabels"]),
            (("NetworkPolicy", "chess"), lambda spec: spec["podSelector"]["matchLabels"]),
            (("Service", "chess"), lambda spec: spec["selector"]),
            (("StatefulSet", "chess"), lambda spec: spec["selector"]["matchLabels"]),
        ):
            found = selector(self.made[key]["spec"])
            self.assertEqual(found, selector(manifests()[key]["spec"]))


if __name__ == "__main__":
    for_real.main(lambda: None)
