#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The files of deploy/ fit the programs: rules, dashboard, configurations, compose, runbook.

Called with the paths of chess_node and corolane. It needs promtool and a Python with yaml, both
from Debian; without one of them it fails and says what to install. Units and manifests have tests
of their own beside this one.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import image
import yaml
from deploy_files import (
    DEPLOY,
    DOCKER,
    KUBERNETES,
    PROMETHEUS,
    ROOT,
    SYSTEMD,
    compose,
    container,
    load,
    port,
    run,
    seconds,
)

CHESS_NODE = "chess_node"
COROLANE = "corolane"

# Metrics of Prometheus itself.
FOREIGN_METRICS = {"up", "ALERTS"}


class PrometheusTest(unittest.TestCase):
    def test_the_configurations_and_rules_are_valid(self):
        for words in (
            ("check", "config", PROMETHEUS / "prometheus.yml"),
            ("check", "config", "--agent", PROMETHEUS / "agent.yml"),
            ("check", "config", "--agent", KUBERNETES / "agent.yml"),
            ("check", "rules", PROMETHEUS / "rules.yml"),
        ):
            output, status = run("promtool", *words)
            self.assertEqual(status, 0, output)

    def test_each_alert_fires_when_it_should(self):
        output, status = run("promtool", "test", "rules", PROMETHEUS / "rules_test.yml")
        self.assertEqual(status, 0, output)

    def test_each_alert_is_tested_firing_and_quiet(self):
        cases = load(PROMETHEUS / "rules_test.yml")["tests"]
        checks = [check for case in cases for check in case["alert_rule_test"]]
        for alert in alerts():
            mine = [check for check in checks if check["alertname"] == alert["alert"]]
            self.assertTrue(any(check.get("exp_alerts") for check in mine), alert["alert"])
            self.assertTrue(any(not check.get("exp_alerts") for check in mine), alert["alert"])

    def test_each_alert_has_a_chapter_in_the_runbook(self):
        chapters = re.findall(r"^## (\w+)$", (DEPLOY / "runbook.md").read_text(), re.M)
        chapters = [chapter for chapter in chapters if chapter.startswith("Corolane")]
        self.assertEqual(sorted(chapters), sorted(alert["alert"] for alert in alerts()))
        for alert in alerts():
            annotations = alert["annotations"]
            self.assertIn(alert["labels"]["severity"], ("critical", "warning"))
            self.assertLessEqual({"summary", "description"}, set(annotations))
            anchor = alert["alert"].lower()
            self.assertEqual(annotations["runbook"], f"deploy/runbook.md#{anchor}")

    def test_agents_differ_only_in_where_they_send(self):
        ours = (PROMETHEUS / "agent.yml").read_text()
        theirs = (KUBERNETES / "agent.yml").read_text()
        self.assertEqual(re.sub(r"url: \S+", "", ours), re.sub(r"url: \S+", "", theirs))


def rules():
    groups = load(PROMETHEUS / "rules.yml")["groups"]
    return [rule for group in groups for rule in group["rules"]]


def alerts():
    return [rule for rule in rules() if "alert" in rule]


def panels():
    dashboard = json.loads((DEPLOY / "grafana/corolane-nodes.json").read_text())
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def dashboard_expressions():
    """The queries, with values in place of Grafana's variables."""
    for panel in panels():
        for target in panel["targets"]:
            text = target["expr"].replace("$__rate_interval", "1m")
            yield re.sub(r"\$(cluster|node|method)\b", "some", text)


class MetricsTest(unittest.TestCase):
    def setUp(self):
        self.known = set(FOREIGN_METRICS)
        for line in (ROOT / "test/data/metrics.txt").read_text().splitlines():
            if line.startswith("#"):
                continue
            name, kind = line.split()
            if kind == "histogram":
                self.known |= {name + suffix for suffix in ("_bucket", "_sum", "_count")}
            else:
                self.known.add(name)
        self.known |= {rule["record"] for rule in rules() if "record" in rule}

    def assert_known(self, expression):
        text = re.sub(r'"[^"]*"', "", expression)
        for name in re.findall(r"[a-z]*:?corolane_\w+(?::\w+)?", text):
            self.assertIn(name, self.known, expression)

    def test_rules_use_metrics_of_nodes(self):
        for rule in rules():
            self.assert_known(rule["expr"])

    def test_the_dashboard_uses_metrics_of_nodes(self):
        for expression in dashboard_expressions():
            self.assert_known(expression)
        variables = json.loads((DEPLOY / "grafana/corolane-nodes.json").read_text())["templating"]
        for variable in variables["list"]:
            self.assert_known(variable.get("definition", ""))

    def test_the_queries_of_the_dashboard_are_valid(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            records = [
                {"record": f"panel:{number}", "expr": expression}
                for number, expression in enumerate(dashboard_expressions())
            ]
            yaml.safe_dump({"groups": [{"name": "dashboard", "rules": records}]}, file)
            file.flush()
            output, status = run("promtool", "check", "rules", file.name)
        self.assertEqual(status, 0, output)

    def test_each_panel_says_what_it_shows(self):
        ids = [panel["id"] for panel in panels()]
        self.assertEqual(len(ids), len(set(ids)))
        for panel in panels():
            self.assertTrue(panel["title"] and panel["description"], panel["id"])


class NodeConfigTest(unittest.TestCase):
    def assert_taken(self, path, variables):
        output, status = run(
            *(CHESS_NODE, "--check-config", "--config", path), env=os.environ | variables
        )
        self.assertEqual((output, status), ("chess: the configuration is valid\n", 0))

    def test_the_configuration_of_systemd_is_valid(self):
        lines = (SYSTEMD / "node-1.env").read_text().splitlines()
        variables = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
        self.assert_taken(SYSTEMD / "chess.yaml", variables)

    def test_the_configuration_of_compose_is_valid(self):
        for name in ("node-1", "node-2", "node-3"):
            self.assert_taken(DOCKER / "chess.yaml", compose()["services"][name]["environment"])

    def test_reachable_nodes_are_refused_without_a_key(self):
        for name, folder in (("compose", DOCKER), ("kubernetes", KUBERNETES)):
            output, status = run(
                *(CHESS_NODE, "--check-config", "--config", folder / "chess.yaml"),
                *("--set", "node.cluster.shared_key_file="),
            )
            self.assertEqual(status, 2, name)
            self.assertIn("cluster.listen: 0.0.0.0:8464 is no loopback address", output)
            self.assertIn("openssl rand -hex 32", output)

    def test_the_configuration_of_kubernetes_is_valid(self):
        variables = {}
        for variable in container("node")["env"]:
            variables[variable["name"]] = variable.get("value", "10.0.0.1")
        self.assert_taken(KUBERNETES / "chess.yaml", variables)


class ComposeTest(unittest.TestCase):
    def setUp(self):
        self.services = compose()["services"]

    def test_everything_it_refers_to_exists(self):
        for name, service in self.services.items():
            needs = service.get("depends_on", [])
            network = service.get("network_mode", "")
            if network:
                needs = [*needs, network.removeprefix("service:")]
            for need in needs:
                self.assertIn(need, self.services, name)
            for volume in service.get("volumes", []):
                source = volume.split(":")[0]
                if source.startswith("."):
                    self.assertTrue((DOCKER / source).is_file(), source)
                else:
                    self.assertIn(source, compose()["volumes"])
            for secret in service.get("secrets", []):
                self.assertIn(secret, compose()["secrets"])

    def test_nodes_reach_what_they_need(self):
        node = load(DOCKER / "chess.yaml")["node"]
        hosts = [*node["store"]["redis"]["servers"], *node["cluster"]["etcd"]["servers"]]
        self.assertEqual(hosts, ["redis:6379", "etcd:2379"])
        self.assertLessEqual({host.split(":")[0] for host in hosts}, set(self.services))
        self.assertEqual(node["cluster"]["shared_key_file"], "/run/secrets/cluster_key")
        for number in (1, 2, 3):
            name = f"node-{number}"
            variables = self.services[name]["environment"]
            network = self.services[f"{name}-network"]
            self.assertIn(
                variables["COROLANE_NODE__CLUSTER__ADVERTISE"],
                network["networks"]["default"]["aliases"],
            )
            inner = [int(text.rpartition(":")[2]) for text in network["ports"]]
            clients = node["clients"]
            self.assertEqual(inner, [port(clients["listen"])])
            self.assertIs(clients["http"], True)  # YAML 1.1 reads "on" like that.
            self.assertEqual(self.services[f"{name}-agent"]["environment"]["NODE"], name)

    def test_a_node_has_time_to_stop(self):
        stop_time = seconds(load(DOCKER / "chess.yaml")["node"]["stop_time_max"])
        self.assertGreater(seconds(self.services["node-1"]["stop_grace_period"]), stop_time + 2)

    def test_the_agent_scrapes_the_admin_address_of_the_node(self):
        targets = load(PROMETHEUS / "agent.yml")["scrape_configs"][0]["static_configs"]
        for config in (DOCKER / "chess.yaml", KUBERNETES / "chess.yaml"):
            self.assertEqual(targets, [{"targets": [load(config)["node"]["admin"]["listen"]]}])

    def test_the_image_has_the_libraries_of_its_programs(self):
        owners = image.owners_of_libraries(CHESS_NODE) | image.owners_of_libraries(COROLANE)
        self.assertIn("libuv.so.1", owners)
        dockerfile = (DOCKER / "Dockerfile").read_text()
        self.assertEqual(image.lacks(dockerfile, owners.values()), set())
        without = dockerfile.replace(" libuv1 ", " ")
        self.assertEqual(image.lacks(without, owners.values()), {owners["libuv.so.1"]})

    def test_the_image_is_probed_by_a_command_that_it_has(self):
        dockerfile = (DOCKER / "Dockerfile").read_text()
        words = json.loads(re.search(r"HEALTHCHECK .*\\\n\s*CMD (\[.*\])", dockerfile)[1])
        admin = load(DOCKER / "chess.yaml")["node"]["admin"]["listen"]
        self.assertEqual(words, ["/usr/bin/corolane", "page", admin, "/health"])
        self.assertRegex(dockerfile, r"\nUSER \d+:\d+\n")

    def test_nodes_serve_the_page_that_the_image_has(self):
        dockerfile = (DOCKER / "Dockerfile").read_text()
        page, folder = re.search(r"\nCOPY (services/\S+) (/usr/share/\S+)\n", dockerfile).groups()
        self.assertTrue((ROOT / page / "index.html").is_file())
        for config in (DOCKER / "chess.yaml", KUBERNETES / "chess.yaml"):
            self.assertEqual(load(config)["node"]["clients"]["files"], folder)


class RunbookTest(unittest.TestCase):
    """The commands of the documents work."""

    @classmethod
    def setUpClass(cls):
        cls.node = subprocess.Popen(
            [
                *(CHESS_NODE, "--set", "node.store.kind=memory"),
                *("--set", "node.clients.listen=127.0.0.1:0"),
                *("--set", "node.clients.login.anonymous=true"),
                *("--set", "node.admin.listen=127.0.0.1:0"),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        cls.admin = re.search(r"admin http://([^/]+)/", cls.node.stdout.readline())[1]

    @classmethod
    def tearDownClass(cls):
        cls.node.terminate()
        cls.node.communicate(timeout=60)

    def test_the_pages_exist(self):
        texts = [path.read_text() for path in sorted(DEPLOY.rglob("*.md"))]
        pages = {page for text in texts for page in re.findall(r"corolane page \S+ (/\S*?)`", text)}
        for name in ("startupProbe", "readinessProbe", "livenessProbe"):
            pages.add(container("node")[name]["exec"]["command"][3])
        self.assertGreater(len(pages), 4)
        for page in pages:
            output, status = run(COROLANE, "page", self.admin, page)
            self.assertEqual(status, 0, output)

    def test_the_statistics_exist(self):
        output, status = run(COROLANE, "stats", self.admin)
        self.assertEqual(status, 0, output)

    def test_the_keys_exist(self):
        printed, _ = run(CHESS_NODE, "--print-config")
        known = yaml.safe_load(printed)
        for path in DEPLOY.rglob("*.md"):
            for key in re.findall(r"`(node\.[a-z_.]+)`", path.read_text()):
                value = known
                for part in key.split("."):
                    self.assertIn(part, value, f"{path.name}: {key}")
                    value = value[part]

    def test_links_lead_somewhere(self):
        for path in DEPLOY.rglob("*.md"):
            text = path.read_text()
            for link in re.findall(r"\]\(([^)#:]+)\)", text):
                self.assertTrue((path.parent / link).exists(), f"{path.name}: {link}")
            for name in re.findall(r"`((?:deploy|test|tools|framework)/[\w./-]+)`", text):
                self.assertTrue((ROOT / name).exists(), f"{path.name}: {name}")


if __name__ == "__main__":
    CHESS_NODE, COROLANE = (str(Path(word).resolve()) for word in sys.argv[1:3])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
