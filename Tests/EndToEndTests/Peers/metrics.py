"""Does things to the relay, and reads in its metrics that it has: strictly, by Prometheus' own parser
and a few rules that this one does not hold. metrics.py PORT DATA; prints "good"."""

import asyncio
import http.client
import json
import re
import subprocess
import sys
import time

import websockets
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families

PORT, DATA = int(sys.argv[1]), sys.argv[2]


def request(method, path, body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=30)
    if body:
        headers["Content-Type"] = "application/json"
    if path == "/metrics":
        headers["Authorization"] = "Bearer the-token-of-tests"
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    return response.status, response.getheader("Content-Type"), response.read().decode()


def check_text(text):
    """What the exposition format asks for, version 0.0.4."""
    assert text.endswith("\n")
    families, family = set(), None
    for line in text.splitlines():
        if line.startswith("# HELP "):
            family = line.split(" ")[2]
            assert family not in families and len(line.split(" ", 3)[3]) > 10, line
            families.add(family)
            typed = False
        elif line.startswith("# TYPE "):
            assert line.split(" ")[2] == family and not typed, line
            kind, typed = line.split(" ")[3], True
            assert (kind == "counter") == family.endswith("_total"), line
        else:
            match = re.fullmatch(r'([a-z_]+)(\{[a-z_]+="[^"\\\n]*"(,[a-z_]+="[^"\\\n]*")*\})? (\S+)', line)
            assert match and typed, line
            name = re.sub("_(bucket|sum|count)$", "", match[1]) if kind == "histogram" else match[1]
            assert name == family and re.match("(relay|process)_", name), line
            assert float(match[4]) >= 0, line


def scrape():
    """Every sample, by name and labels."""
    status, kind, text = request("GET", "/metrics")
    assert status == 200 and kind == "text/plain; version=0.0.4; charset=utf-8", (status, kind)
    check_text(text)
    samples = {}
    for family in text_string_to_metric_families(text):
        assert family.documentation and family.type in ("counter", "gauge", "histogram"), family
        for sample in family.samples:
            key = sample.name + "".join("|%s=%s" % label for label in sorted(sample.labels.items()))
            assert key not in samples, key
            samples[key] = sample.value
        if family.type == "histogram":
            buckets = [(float(sample.labels["le"]), sample.value) for sample in family.samples
                       if sample.name.endswith("_bucket")]
            assert buckets == sorted(buckets) and buckets[-1][0] == float("inf"), buckets
            assert [count for _, count in buckets] == sorted(count for _, count in buckets), buckets
            assert samples[family.name + "_count"] == buckets[-1][1], family
    return samples


def check_openmetrics(samples):
    """The same metrics as OpenMetrics, with exemplars of the latency, each of which leads to an entry."""
    # As Prometheus asks.
    accept = ("application/openmetrics-text;version=1.0.0;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,"
              "text/plain;version=0.0.4;q=0.4,*/*;q=0.3")
    status, kind, text = request("GET", "/metrics", Accept=accept)
    assert status == 200 and kind == "application/openmetrics-text; version=1.0.0; charset=utf-8", (status, kind)
    found, traces = set(), set()
    for family in openmetrics.text_string_to_metric_families(text):
        for sample in family.samples:
            found.add(sample.name + "".join("|%s=%s" % label for label in sorted(sample.labels.items())))
            if sample.exemplar:
                assert sample.name == "relay_ack_latency_seconds_bucket", sample
                assert 0 < sample.exemplar.value <= float(sample.labels["le"]), sample
                assert abs(float(sample.exemplar.timestamp) - time.time()) < 60, sample
                traces.add(sample.exemplar.labels["trace_id"])
    threads = "relay_thread_cpu_seconds_total"
    assert {name for name in found ^ set(samples) if not name.startswith(threads)} == set(), found ^ set(samples)
    assert traces
    return traces


def check_traces(traces):
    for trace in traces:
        found = json.loads(subprocess.check_output(
            ["curl", "-s", "--unix-socket", DATA + "/operator.sock", "http://localhost/v1/traces/" + trace]))
        assert found["room"] in ("general", "sys:canary"), found
        status, _, _ = request("GET", "/v1/traces/%s?user=bo" % trace)
        assert status == 403, status


async def until(socket, matches):
    while True:
        message = json.loads(await socket.recv())
        if matches(message):
            return message


async def say(socket, **message):
    await socket.send(json.dumps(message))


async def traffic():
    url = "ws://127.0.0.1:%d/ws?user=" % PORT
    before = scrape()
    async with websockets.connect(url + "ada") as ada, websockets.connect(url + "bo") as bo:
        for socket in ada, bo:
            await say(socket, type="join", room="general", after=0)
            await until(socket, lambda m: m["type"] == "joined")
        for number in range(10):
            await say(ada, type="send", room="general", id="m%d" % number, text="hi")
        await until(ada, lambda m: m["type"] == "ack" and m["seq"] == 10)
        # Refused in one way or another, and once again what is there.
        await say(ada, type="send", room="general", id="m0", text="hi")
        await until(ada, lambda m: m.get("duplicate"))
        await ada.send("{")
        await until(ada, lambda m: m.get("code") == "bad_json")
        await say(ada, type="send", room="dm:bo:cy", id="x", text="hi")
        await until(ada, lambda m: m.get("code") == "forbidden")
        await say(ada, type="leave", room="elsewhere")
        await until(ada, lambda m: m.get("code") == "not_joined")
        await say(ada, type="history", room="general")
        await until(ada, lambda m: m["type"] == "history")
        status, _, _ = request("POST", "/v1/rooms/general/messages?user=cy", '{"id":"h","text":"hi"}')
        assert status == 201
        for socket in ada, bo:
            await until(socket, lambda m: m["type"] == "message" and m["seq"] == 11)
        # Closed by the relay.
        async with websockets.connect(url + "dee") as dee:
            await dee.send(b"binary")
            await dee.wait_closed()
            assert dee.close_code == 1003
        after = scrape()
    check(before, after)
    check_traces(check_openmetrics(after))


def check(before, after):
    grown = {key: value - before.get(key, 0) for key, value in after.items()}
    for key, value in {
        "relay_messages_received_total|type=send": 13,
        "relay_messages_received_total|type=join": 2,
        "relay_messages_received_total|type=leave": 1,
        "relay_messages_received_total|type=history": 1,
        "relay_messages_sent_total|kind=ack": 12,
        "relay_messages_sent_total|kind=entry": 22,
        "relay_messages_sent_total|kind=error": 3,
        "relay_deliveries_total": 22,
        "relay_rejections_total|code=bad_json": 1,
        "relay_rejections_total|code=forbidden": 1,
        "relay_rejections_total|code=not_joined": 1,
        "relay_rejections_total|code=rate_limited": 0,
        "relay_ack_latency_seconds_count": 12,
        "relay_log_entries_total": 11,
        "relay_log_batch_entries_sum": 11,
        "relay_log_failures_total": 0,
        "relay_http_responses_total|status=201": 1,
        "relay_http_responses_total|status=200": 1,
        "relay_closes_total|code=1003": 1,
        "relay_violations_total|rule=framing": 1,
    }.items():
        assert grown[key] == value, (key, grown[key], value)
    commits = grown["relay_log_commits_total"]
    assert 2 <= grown["relay_log_batch_entries_count"] <= min(11, commits), grown
    assert grown["relay_log_sync_seconds_count"] >= grown["relay_log_batch_entries_count"]
    assert 0 < after["relay_log_sync_seconds_sum"] <= after["relay_log_batch_seconds_sum"]
    assert 0 < grown["relay_ack_latency_seconds_sum"] < 12 * 30
    for key, value in {
        "relay_connection_states|state=websocket": 2,
        "relay_sessions": 3,
        "relay_subscriptions": 2,
        "relay_lagging_subscriptions": 0,
        "relay_queued_bytes": 0,
        "relay_directory_people": 2,
        "relay_directory_left_out_people": 1,
        "relay_directory_problems|problem=failed": 0,
        "relay_directory_problems|problem=limited": 0,
        "relay_bots_configured": 1,
        "relay_bots_connected": 1,
        "relay_log_rooms": 1,
        "relay_log_unindexed_entries": 11,
        "relay_connection_states|state=tls_handshake": 0,
    }.items():
        assert after[key] == value, (key, after[key], value)
    assert 0 <= after["relay_directory_age_seconds"] < 600
    assert sum(after["relay_users|loop=%d" % loop] for loop in range(2)) == 3
    assert 1 <= sum(after["relay_active_rooms|loop=%d" % loop] for loop in range(2)) <= 2
    # Two loops, each with a tail of its own.
    assert after["relay_tail_bytes"] > 2 * 11 * 50
    assert after["relay_log_file_bytes|file=relay.db"] + after["relay_log_file_bytes|file=relay.db-wal"] > 4096
    assert grown["relay_received_bytes_total"] > 500 and grown["relay_sent_bytes_total"] > 22 * 50
    assert after["process_resident_memory_bytes"] > 1 << 20
    assert 10 < after["process_open_fds"] < after["process_max_fds"]
    assert after["process_cpu_seconds_total"] > 0 and after["process_start_time_seconds"] > 1.7e9
    assert after['relay_build_info|version=0.1.0'] == 1


async def main():
    # The bot is there first.
    for _ in range(500):
        if scrape()["relay_bots_connected"] == 1:
            break
        await asyncio.sleep(0.02)
    await asyncio.wait_for(traffic(), 120)

asyncio.run(main())
print("good")
