"""monitoring.py RELAY: the alert rules and the dashboard of config/monitoring, by Prometheus's own tool, and against the
metrics that a relay has."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.request

import yaml

from relay import Relay

PROJECT = pathlib.Path(__file__).parents[3]
FOLDER = PROJECT / "config/monitoring"
TESTS = pathlib.Path(__file__).parent / "alerts.yaml"
TOKEN = "the-token-of-tests"


def promtool(*arguments):
    result = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stdout + result.stderr


def known(program, folder):
    """The metrics of a running relay, and those of one that shares a PostgreSQL, as the source names them."""
    relay = Relay(program, folder, f"metrics: {{ token: {TOKEN} }}\n")
    request = urllib.request.Request(f"{relay.url}/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        text = answer.read().decode()
    relay.stop()
    shared = re.findall(r'"(relay_nodes?_?\w*)"', (PROJECT / "Sources/Server/Server/Metrics.swift").read_text())
    return set(re.findall(r"^# TYPE (\w+)", text, re.MULTILINE)) | set(shared)


def named(expression):
    labels = re.sub(r"\{[^}]*\}|\[[^\]]*\]|by \([^)]*\)", "", expression)
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in re.findall(r"\b(?:relay|process)_\w+", labels)}


def main(program):
    rules = yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"][0]["rules"]
    tested = {test["name"] for test in yaml.safe_load(TESTS.read_text())["tests"]}
    assert {rule["alert"] for rule in rules} <= tested, "each alert has a test"
    promtool("check", "rules", FOLDER / "alerts.yaml")
    promtool("test", "rules", TESTS)

    dashboard = json.loads((FOLDER / "dashboard.json").read_text())
    shown = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        folder = pathlib.Path(folder)
        queries = [{"record": f"shown:{place}", "expr": query.replace("$__rate_interval", "1m").replace("$instance", ".*")}
                   for place, query in enumerate(shown)]
        (folder / "shown.yaml").write_text(json.dumps({"groups": [{"name": "shown", "rules": queries}]}))
        promtool("check", "rules", folder / "shown.yaml")
        metrics = known(program, folder)
    for expression in [rule["expr"] for rule in rules] + shown:
        assert named(expression) <= metrics, (expression, named(expression) - metrics)


if __name__ == "__main__":
    main(sys.argv[1])
    print("good")
