#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every query of the dashboards, and every alert, against a Prometheus that scrapes two nodes under
load: it has data, or it is listed here with the reason why it has none.

Called with the build folder, from the root of the tree.
"""

import json
import re
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import harness
from chaos_lib.cluster import Cluster
from otlp_collector import Collector

try:
    import yaml
except ImportError:
    sys.exit("grafana_test: python3-yaml is missing; tools/setup --tests installs it")

BUILD = Path("build/release")
DEPLOY = harness.ROOT / "deploy"
RULES = DEPLOY / "prometheus/rules.yml"

# What Grafana makes of $__rate_interval with a scrape interval of a second.
RATE_INTERVAL = "4s"
# The samples that the queries look at.
DATA_SECONDS = 12

# Queries of panels that rightly have no data, by a part that no other query has, with the reason.
EMPTY_PANELS = {}
# Metrics of rules that rightly do not exist yet, with the reason.
ABSENT_METRICS = {}
# Alerts that a machine causes that is too slow for two nodes, their clients and a Prometheus: there
# leases and loops are late.
ALERTS_OF_SLOWNESS = {
    "CorolaneCallsRefused",
    "CorolaneCallsShed",
    "CorolaneClusterErrors",
    "CorolaneDirectoryErrors",
    "CorolaneFailover",
    "CorolaneLeaseNearItsEnd",
    "CorolaneLoopStalls",
    "CorolaneMembersDisagree",
    "CorolaneNoNodeServes",
    "CorolaneNodeFenced",
    "CorolaneNodeSilent",
    "CorolanePartitionsWithoutOwner",
    "CorolaneQueueDelay",
    "CorolaneShardSilent",
    "CorolaneWithoutDirectory",
}


def get(url):
    with urllib.request.urlopen(url, timeout=harness.PATIENCE) as reply:
        return json.load(reply)


class Prometheus:
    """A Prometheus with the rules of deploy/, which scrapes the nodes each second."""

    def __init__(self, folder, nodes):
        (port,) = harness.free_ports(1)
        self.url = f"http://127.0.0.1:{port}"
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(RULES)],
            "scrape_configs": [
                {
                    "job_name": "corolane",
                    "static_configs": [
                        {
                            "targets": [f"127.0.0.1:{node.admin_port}"],
                            "labels": {"cluster": "chess", "node": node.name},
                        }
                        for node in nodes
                    ],
                    # As those that deploy/prometheus/agent.yml forwards.
                    "metric_relabel_configs": [{"action": "labeldrop", "regex": "instance"}],
                }
            ],
        }
        path = folder / "prometheus.yml"
        path.write_text(yaml.safe_dump(config), encoding="utf-8")
        self.log = folder / "prometheus.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [
                    *("prometheus", f"--config.file={path}"),
                    *(f"--storage.tsdb.path={folder}/tsdb", "--web.enable-lifecycle"),
                    *(f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn"),
                    "--enable-feature=exemplar-storage",
                ],
                stdout=log,
                stderr=log,
            )

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=harness.PATIENCE)

    def ask(self, path, **words):
        """The data of an answer; an error of Prometheus is an HTTPError with its text."""
        try:
            answer = get(f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(words, doseq=True)}")
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{words}: {error.read().decode()}") from error
        return answer["data"]

    def query(self, expression):
        return self.ask("query", query=expression)["result"]

    def query_range(self, expression):
        end = time.time()
        return self.ask(
            "query_range", query=expression, start=end - DATA_SECONDS, end=end, step=1
        )["result"]

    def is_ready(self):
        try:
            with urllib.request.urlopen(f"{self.url}/-/ready", timeout=harness.PATIENCE):
                return True
        except OSError:  # An HTTPError, too.
            return False

    def value(self, expression):
        """The value of a single series; None without one."""
        result = self.query(expression) if self.is_ready() else []
        return float(result[0]["value"][1]) if result else None


def dashboards():
    return [json.loads(path.read_text()) for path in sorted((DEPLOY / "grafana").glob("*.json"))]


def all_panels(dashboard):
    for panel in dashboard["panels"]:
        yield from [*panel.get("panels", []), panel]


def has_value(series):
    pairs = series.get("values") or [series["value"]]
    return any(value != "NaN" for _, value in pairs)


@harness.needs("prometheus")
@harness.needs("etcd")
@harness.needs("redis-server")
class GrafanaTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        # The calls that are traced are exemplars.
        collector = Collector()
        cls.addClassCleanup(collector.close)
        cls.cluster = Cluster(
            BUILD,
            cls.folder,
            2,
            settings=(
                f"node.otlp.endpoint=http://127.0.0.1:{collector.port}",
                "node.tracing.sample_ratio=1",
                "node.log_level=info",
                "node.clients.http=on",
            ),
        )
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.cluster.start()
        cls.prometheus = Prometheus(cls.folder, cls.cluster.nodes)
        cls.addClassCleanup(cls.prometheus.stop)
        cls.fail_a_call()
        cls.load = cls.begin_load()
        cls.addClassCleanup(cls.end_load)
        cls.wait_for_data()

    @classmethod
    def fail_a_call(cls):
        """Errors have a series for each code that has occurred."""
        request = urllib.request.Request(
            f"http://{cls.cluster.nodes[0].listen}/corolane.services.chess.Chess/Join",
            data=b'{"game": "", "seat": "WHITE"}',
            headers={"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=harness.PATIENCE):
                raise AssertionError("a game without a name was joined")
        except urllib.error.HTTPError as error:
            error.close()

    @classmethod
    def begin_load(cls):
        servers = ",".join(node.listen for node in cls.cluster.nodes)
        return subprocess.Popen(
            [
                *(BUILD / "tools/bots", "--server", servers, "--at-once", "20"),
                *("--history", cls.folder / "history", "--seconds", "600", "--think", "20"),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    @classmethod
    def end_load(cls):
        cls.load.kill()
        cls.load.wait()

    @classmethod
    def wait_for_data(cls):
        served = "min(sum by (node) (rate(corolane_rpc_calls_total[4s]))) > 0"
        sampled = f"min(count_over_time(corolane_node_uptime_seconds[1m])) > {DATA_SECONDS}"
        end = time.monotonic() + harness.PATIENCE
        while not (cls.prometheus.value(served) and cls.prometheus.value(sampled)):
            if time.monotonic() > end:
                raise AssertionError(f"no data: {cls.prometheus.log.read_text()}")
            time.sleep(0.2)

    def label_values(self, query):
        """What Grafana puts in the place of a variable that stands for all of its values."""
        selector, label = re.fullmatch(r"label_values\((.*), (\w+)\)", query).groups()
        values = sorted(self.prometheus.ask(f"label/{label}/values", **{"match[]": selector}))
        self.assertTrue(values, query)
        escaped = [re.escape(value).replace("\\", "\\\\") for value in values]
        return escaped[0] if len(escaped) == 1 else f"({'|'.join(escaped)})"

    def variables(self, dashboard):
        found = {"__rate_interval": RATE_INTERVAL}
        for variable in dashboard["templating"]["list"]:
            if variable["type"] != "query":
                continue
            query = self.substitute(variable["query"]["query"], found)
            found[variable["name"]] = self.label_values(query)
        return found

    def substitute(self, text, variables):
        text = re.sub(r"\$(\w+)", lambda match: variables[match[1]], text)
        self.assertNotIn("$", text)
        return text

    def test_every_panel_shows_data(self):
        unused = dict(EMPTY_PANELS)
        query_count = 0
        for dashboard in dashboards():
            variables = self.variables(dashboard)
            for panel in all_panels(dashboard):
                for target in panel.get("targets", []):
                    query_count += 1
                    expression = self.substitute(target["expr"], variables)
                    series = self.prometheus.query_range(expression)
                    excuse = [part for part in EMPTY_PANELS if part in target["expr"]]
                    for part in excuse:
                        unused.pop(part, None)
                    with self.subTest(panel=panel["title"], expression=expression):
                        self.assertEqual(
                            any(has_value(one) for one in series),
                            not excuse,
                            "listed as empty, and has data" if excuse else "it has no data",
                        )
        self.assertGreater(query_count, 30)
        self.assertEqual(unused, {}, "no query has these parts")

    def test_alerts_are_about_metrics_that_exist_and_are_quiet(self):
        rules = [
            rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]
        ]
        unused = dict(ABSENT_METRICS)
        for rule in rules:
            name = rule.get("alert") or rule["record"]
            text = re.sub(r'"[^"]*"', "", rule["expr"])
            for metric in sorted(set(re.findall(r"(?:\w+:)?corolane_\w+(?::\w+)?", text))):
                unused.pop(metric, None)
                with self.subTest(rule=name, metric=metric):
                    there = bool(self.prometheus.query(f"count({metric})"))
                    self.assertEqual(there, metric not in ABSENT_METRICS)
            # An alert is empty while all is well; an error fails the test.
            self.prometheus.query(rule["expr"])
        self.assertEqual(unused, {}, "no rule has these metrics")
        health = {
            rule["name"]: rule
            for group in self.prometheus.ask("rules")["groups"]
            for rule in group["rules"]
        }
        self.assertEqual(len(health), len(rules))
        for name, rule in health.items():
            self.assertEqual(rule["health"], "ok", f"{name}: {rule.get('lastError')}")
        firing = [
            alert["labels"]
            for alert in self.prometheus.ask("alerts")["alerts"]
            if alert["state"] == "firing" and alert["labels"]["alertname"] not in ALERTS_OF_SLOWNESS
        ]
        self.assertEqual(firing, [])

    def test_prometheus_reads_open_metrics_with_exemplars(self):
        for node in self.cluster.nodes:
            request = urllib.request.Request(
                f"http://127.0.0.1:{node.admin_port}/metrics",
                headers={"Accept": "application/openmetrics-text;version=1.0.0"},
            )
            with urllib.request.urlopen(request, timeout=harness.PATIENCE) as reply:
                self.assertIn("application/openmetrics-text", reply.headers["Content-Type"])
                self.assertTrue(reply.read().endswith(b"\n# EOF\n"))
        end = time.time()
        found = self.prometheus.ask(
            "query_exemplars",
            query="corolane_rpc_call_seconds_bucket",
            start=end - 60,
            end=end,
        )
        exemplars = [exemplar for series in found for exemplar in series["exemplars"]]
        self.assertTrue(exemplars)
        for exemplar in exemplars:
            self.assertRegex(exemplar["labels"]["trace_id"], r"^[0-9a-f]{32}$")


if __name__ == "__main__":
    BUILD = Path(sys.argv[1]).resolve()
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
