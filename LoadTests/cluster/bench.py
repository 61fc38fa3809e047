"""Measures relays that share a PostgreSQL, and a relay with SQLite under the same load.

bench.py BUILT [--seconds N] [--results FILE]    BUILT has the built `swarm` and `relay`

Everything is played by `swarm`: the load with --raw, over sockets, and the recovery times with its
oracle. swarm starts the relays and PostgreSQL itself.
"""
import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile

LIMITS = ("limits: { sends_per_s: 0, bytes_per_s: 0, requests_per_s: 0, "
          "unauthenticated_per_address: 0, connections_per_user: 0 }")
ROOMS, MEMBERS = 100, 3
RATES = [100, 1000, 10_000, None]
# Of each room: with 100 rooms 800 messages are in flight.
WINDOW = 8


def play(swarm, scenario, *flags):
    """Plays a scenario, and returns swarm's report."""
    with tempfile.TemporaryDirectory() as folder:
        path, report = f"{folder}/bench.yaml", f"{folder}/report.json"
        with open(path, "w") as file:
            file.write(scenario)
        run = subprocess.run(
            [swarm, "run", path, "--quiet", "--json", report, *flags],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if not os.path.exists(report):
            raise SystemExit(f"swarm ended with {run.returncode}:\n{run.stdout}")
        with open(report) as file:
            result = json.load(file)
        # 4: the run is void, because the machine has too little left for swarm; the row says so.
        if run.returncode not in (0, 4):
            raise SystemExit(f"swarm ended with {run.returncode}:\n{scenario}\n{run.stdout}")
        return result


def spawn(relays, standby):
    log = f"relays: {relays}, postgresql: {{ standby: {standby} }}, " if standby else ""
    return f"spawn: {{ {log}config: {{ {LIMITS} }} }}"


def load(swarm, relays, standby, rate, seconds):
    pace = f"rate: {rate}" if rate else f"window: {WINDOW}, release: ack"
    result = play(swarm, f"""
{spawn(relays, standby)}
rooms: [{{ shape: many, count: {ROOMS} }}]
clients: [{{ persona: chatter, count: {ROOMS * MEMBERS} }}]
phases: [{{ seconds: 1, connections: {{ constant: 1 }} }}]
text_bytes: 128
patience_ms: 30000
raw: {{ {pace}, seconds: {seconds}, warm_up_s: 2 }}
""", "--raw")
    ack = result["latency_ms"]["ack"]
    sends = result["counts"]["sends"]

    def micros(key):
        return f"{result[key] / sends * 1e6:.0f} µs" if key in result else "–"

    return [
        standby and f"{relays}" or "SQLite", standby or "–",
        f"{rate:,}" if rate else "most", f"{result['sends_per_s']:,.0f}",
        f"{ack['p50']:.1f} ms", f"{ack['p99']:.1f} ms",
        f"{result['counts']['deliveries'] / result['server_cpu_s']:,.0f}",
        micros("server_cpu_s"), micros("database_cpu_s"),
        "swarm's thread was busy" if result["exit_code"] == 4 else "",
    ]


def recoveries(swarm):
    """How long faults last for clients."""
    rows = []
    for standby, steps in [
        ("none", [("kill", "relay: 1"), ("kill_database", "ms: 1000"), ("stop_database", "ms: 1000")]),
        ("synchronous", [("promote", "ms: 1")]),
    ]:
        for step, detail in steps:
            result = play(swarm, f"""
{spawn(3, standby)}
rooms: [{{ shape: many, count: {ROOMS} }}]
clients: [{{ persona: chatter, count: {ROOMS * MEMBERS} }}]
phases:
  - {{ seconds: 3, connections: {{ constant: 150 }} }}
  - {{ seconds: 35, messages: {{ constant: 1000 }} }}
  - {{ seconds: 1 }}
text_bytes: 128
patience_ms: 30000
chaos: [{{ do: {step}, {detail}, at_s: 5, times: 1 }}{
    "" if step == "kill" else
    f", {{ do: {step}, {detail}, at_s: 15 }}, {{ do: {step}, {detail}, at_s: 25 }}"}]
""")
            for recovery in result["recoveries"]:
                time = recovery.get("recovered_ms")
                rows.append([
                    recovery["step"], standby, f"{recovery['disconnected']}",
                    f"{recovery['unanswered']}",
                    f"{time / 1000:.2f} s" if time is not None else "not at all"])
    return rows


def table(heads, rows):
    lines = [heads, ["---"] * len(heads)] + rows
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


BEGIN, END = "<!-- measured -->\n", "<!-- end -->\n"


def document(path):
    """The document that takes the results; it is read first, so that no measurement is lost."""
    try:
        with open(path) as file:
            text = file.read()
    except OSError as error:
        raise SystemExit(f"cannot write the results to {path}: {error.strerror}; name a copy of "
                         "LoadTests/results/cluster.md")
    if BEGIN not in text or END not in text:
        raise SystemExit(f"{path} has no place for results: {BEGIN}…{END}")
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("built")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--results")
    arguments = parser.parse_args()
    before = document(arguments.results) if arguments.results else None
    swarm = f"{arguments.built}/swarm"
    rows, busy = [], os.getloadavg()[0]
    for relays, standby in [(1, None)] + [
            (n, s) for s in ("none", "synchronous") for n in (1, 2, 3)]:
        for rate in RATES:
            rows.append(load(swarm, relays, standby, rate, arguments.seconds))
            print(" | ".join(rows[-1]), file=sys.stderr)
    text = f"""{datetime.date.today()}, {os.cpu_count()} processors; the load average was {busy:.1f} before:

{table(["relays", "standby", "rate", "sends/s", "ack p50", "ack p99", "deliveries per CPU second",
        "CPU of the relays per entry", "CPU of PostgreSQL per entry", ""], rows)}

{table(["after", "standby", "clients that lost their relay", "sends that waited",
        "until 99 % were connected, and answered"], recoveries(swarm))}
"""
    print(text)
    if before:
        with open(arguments.results, "w") as file:
            file.write(before.split(BEGIN)[0] + BEGIN + text + END + before.split(END)[1])


main()
