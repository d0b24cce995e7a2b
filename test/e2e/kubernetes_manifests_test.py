#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The manifests of deploy/kubernetes fit each other, the configuration and the documents.

It needs a Python with yaml, from Debian, and no Kubernetes. kubernetes_schemas_test.py compares
the manifests with what Kubernetes takes.
"""

import re
import unittest

from deploy_files import (
    DEPLOY,
    KUBERNETES,
    container,
    load,
    manifests,
    pod,
    port,
    seconds,
)


class KubernetesTest(unittest.TestCase):
    LABELS = {"app.kubernetes.io/name": "chess"}

    def setUp(self):
        self.manifests = manifests()
        self.node = load(KUBERNETES / "chess.yaml")["node"]

    def test_all_manifests_are_applied(self):
        listed = set(load(KUBERNETES / "kustomization.yaml")["resources"])
        listed |= {"kustomization.yaml", "chess.yaml"}
        self.assertEqual({path.name for path in KUBERNETES.glob("*.yaml")}, listed)

    def test_selectors_select_the_nodes(self):
        stateful_set = self.manifests["StatefulSet", "chess"]["spec"]
        self.assertEqual(stateful_set["template"]["metadata"]["labels"], self.LABELS)
        selectors = [
            stateful_set["selector"]["matchLabels"],
            self.manifests["Service", "chess"]["spec"]["selector"],
            self.manifests["Service", "chess-nodes"]["spec"]["selector"],
            self.manifests["PodDisruptionBudget", "chess"]["spec"]["selector"]["matchLabels"],
            self.manifests["NetworkPolicy", "chess"]["spec"]["podSelector"]["matchLabels"],
        ]
        spreads = pod()["topologySpreadConstraints"]
        selectors += [spread["labelSelector"]["matchLabels"] for spread in spreads]
        for selector in selectors:
            self.assertEqual(selector, self.LABELS)
        self.assertIn(("Service", stateful_set["serviceName"]), self.manifests)
        self.assertIn(("ServiceAccount", pod()["serviceAccountName"]), self.manifests)

    def test_ports_are_those_of_the_configuration(self):
        ports = {entry["name"]: entry["containerPort"] for entry in container("node")["ports"]}
        first = port(self.node["cluster"]["listen"])
        clients = self.node["clients"]
        self.assertIs(clients["http"], True)  # YAML 1.1 reads "on" like that.
        expected = {"clients": port(clients["listen"])}
        expected |= {"cluster": first, "cluster-2": first + 1}
        self.assertEqual(ports, expected)
        self.assertEqual(self.node["shards"], 2)
        for name in ("chess", "chess-nodes"):
            for entry in self.manifests["Service", name]["spec"]["ports"]:
                self.assertEqual(ports[entry["targetPort"]], entry["port"])
        ingress = self.manifests["NetworkPolicy", "chess"]["spec"]["ingress"]
        opened = [entry for rule in ingress for entry in rule["ports"]]
        for number in ports.values():
            fits = [e for e in opened if e["port"] <= number <= e.get("endPort", e["port"])]
            self.assertEqual(len(fits), 1, number)

    def test_everything_that_is_mounted_exists(self):
        generated = load(KUBERNETES / "kustomization.yaml")["configMapGenerator"]
        config_maps = {entry["name"]: entry["files"] for entry in generated}
        for files in config_maps.values():
            for name in files:
                self.assertTrue((KUBERNETES / name).is_file(), name)
        volumes = {volume["name"]: volume for volume in pod()["volumes"]}
        for entry in pod()["containers"]:
            for mount in entry["volumeMounts"]:
                self.assertIn(mount["name"], volumes)
        for volume in volumes.values():
            if "configMap" in volume:
                self.assertIn(volume["configMap"]["name"], config_maps)
        key_folder = next(
            mount["mountPath"]
            for mount in container("node")["volumeMounts"]
            if mount["name"] == "secrets"
        )
        self.assertEqual(volumes["secrets"]["secret"]["secretName"], "chess-secrets")
        self.assertEqual(self.node["cluster"]["shared_key_file"], f"{key_folder}/cluster.key")

    def test_the_readme_creates_the_secret_of_the_pods(self):
        made = re.findall(r"--from-literal=([\w.-]+)=", (DEPLOY / "README.md").read_text())
        config = (KUBERNETES / "chess.yaml").read_text()
        used = re.findall(r"/etc/corolane/secrets/([\w.-]+)", config)
        self.assertEqual(set(made), set(used))

    def test_a_node_has_time_to_stop(self):
        wait = int(container("node")["lifecycle"]["preStop"]["exec"]["command"][1])
        stop_time = seconds(self.node["stop_time_max"])
        self.assertGreater(pod()["terminationGracePeriodSeconds"], wait + stop_time + 2)
        budget = self.manifests["PodDisruptionBudget", "chess"]["spec"]
        self.assertEqual(budget["maxUnavailable"], 1)

    def test_pods_are_restricted(self):
        self.assertTrue(pod()["securityContext"]["runAsNonRoot"])
        self.assertEqual(pod()["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
        for entry in pod()["containers"]:
            context = entry["securityContext"]
            self.assertFalse(context["allowPrivilegeEscalation"])
            self.assertTrue(context["readOnlyRootFilesystem"])
            self.assertEqual(context["capabilities"], {"drop": ["ALL"]})
            self.assertLessEqual({"requests", "limits"}, set(entry["resources"]))

    def test_probes_use_the_admin_address_of_the_node(self):
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            words = container("node")[probe]["exec"]["command"]
            self.assertEqual(words[:3], ["/usr/bin/corolane", "page", self.node["admin"]["listen"]])
            # The command itself gives up after 5 s.
            self.assertGreater(container("node")[probe]["timeoutSeconds"], 5)


if __name__ == "__main__":
    unittest.main()
