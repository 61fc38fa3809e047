#!/usr/bin/python3
"""Makes pages, tables and comparisons of the JSON that swarm writes.

report.py page REPORT.json PAGE.html          the text of a run or a benchmark, with plots
report.py compare A.json B.json               two runs side by side
report.py figures BENCH.json DOCUMENT.md ...  the tables of a benchmark in documents

swarm contains this program, and runs it for --html and `swarm compare`.
"""

import html
import io
import json
import sys


def read(path, key):
    """Reads a report; a report of the wrong kind lacks the key."""
    try:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
    except OSError as error:
        sys.exit(f"{path}: {error.strerror}")
    except ValueError as error:
        sys.exit(f"{path}: not a report of swarm: {error}")
    if not isinstance(report, dict) or key not in report:
        sys.exit(f"{path}: not a report of swarm with {key}")
    return report


def printable(text):
    """Replaces what could control a terminal or the direction of text."""
    return "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text)


# Pages


def over_time(report, plots):
    """Plots a run by seconds: what happened in each, and what was disturbed when."""
    seconds = report.get("series")
    if not seconds:
        return

    def curve(axes, name, key, factor=1, rate=False):
        values = [second.get(key, float("nan")) for second in seconds]
        if all(value != value for value in values):
            return
        values = [v * factor / (max(s["length"], 1) if rate else 1) for s, v in zip(seconds, values)]
        axes.plot([s["start"] + s["length"] / 2 for s in seconds], values, ".-", label=name)

    def panel(title, scale="linear"):
        axes = plots(title, "s", scale)
        for phase in report["phases"]:
            axes.axvline(phase["start"], color="lightgray", label="_")
        for mark in report["marks"]:
            if not mark["text"].startswith("phase "):
                axes.axvline(mark["seconds"], color="crimson", linestyle=":", label="_")
        return axes

    axes = panel("Latency, ms; dotted: chaos and recovery", "log")
    curve(axes, "ack p50", "ack_p50_ms")
    curve(axes, "ack p99", "ack_p99_ms")
    curve(axes, "deliver p99", "deliver_p99_ms")
    axes = panel("Per second")
    for key in "deliveries", "sends", "acks":
        curve(axes, key, key, rate=True)
    curve(panel("Connections"), "clients", "clients")
    if any("relay_cores" in second for second in seconds):
        curve(panel("The relay's CPU, % of a core"), "CPU", "relay_cores", 100)
        curve(panel("The relay's memory, MiB"), "resident", "relay_bytes", 1 / 1048576)


def percentiles(report, plots):
    names = ["p50", "p90", "p99", "p99_9", "p99_99", "max"]
    if report["latency_ms"]:
        axes = plots("Latency by percentile, ms", "", "log")
        for measure, values in report["latency_ms"].items():
            axes.plot([n.replace("_", ".") for n in names], [values[n] for n in names], ".-", label=measure)


def beside_floor(report, plots):
    """Plots each server's figures relative to the floor, and each row's growing cost."""
    rows = [row for row in report["rows"] if row["pairs"]]
    if rows:
        axes = plots("Relative to the floor; the bar spans the relay's runs", "")
        for name in dict.fromkeys(peer["name"] for row in rows for peer in row["peers"]):
            points = [
                (row["id"], peer["figure"] / row["floor"])
                for row in rows
                for peer in row["peers"]
                if peer["name"] == name and "figure" in peer and row["floor"] > 0
            ]
            axes.plot([p[0] for p in points], [p[1] for p in points], "x", label=name)
        for row in rows:
            ratios = [pair["relay"] / pair["floor"] for pair in row["pairs"] if pair["floor"] > 0]
            axes.plot([row["id"]] * len(ratios), ratios, "k-", linewidth=4)
        axes.axhline(1, color="gray")
        axes.tick_params(axis="x", rotation=90)
        axes.set_ylim(bottom=0)
    for row in report["rows"]:
        if row["points"]:
            unit = "bytes" if row["points"][0]["line"] == "bytes" else "µs CPU"
            axes = plots(f"{row['id']}, {unit}", "")
            for line in dict.fromkeys(point["line"] for point in row["points"]):
                points = [(p["x"], p["y"]) for p in row["points"] if p["line"] == line]
                axes.plot([p[0] for p in points], [p[1] for p in points], ".-", label=line)
            axes.set_xscale("log")
            axes.set_ylim(bottom=0)


def page(report_path, page_path):
    import matplotlib

    matplotlib.use("svg")
    # Text stays text. All of it is this program's or swarm's own: names from elsewhere could be mathematics.
    matplotlib.rcParams.update({"svg.fonttype": "none", "axes.titlesize": "medium"})
    from matplotlib.figure import Figure

    figures = []

    def plots(title, unit, scale="linear"):
        axes = Figure(figsize=(6, 3.2), layout="constrained").subplots()
        axes.set(title=title, xlabel=unit, yscale=scale)
        figures.append(axes)
        return axes

    report = read(report_path, "text")
    if "bench" in report:
        beside_floor(report, plots)
    else:
        over_time(report, plots)
        percentiles(report, plots)
    pictures = []
    for axes in figures:
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize="small")
        picture = io.StringIO()
        axes.figure.savefig(picture, format="svg")
        # The prolog of a file of its own.
        pictures.append(picture.getvalue().partition("<svg")[2])
    name = report.get("scenario") or f"bench, {report.get('date')}"
    with open(page_path, "w", encoding="utf-8") as file:
        file.write(
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width">'
            f"<title>{html.escape(printable(name))} · swarm</title>"
            "<style>pre{overflow-x:auto}svg{max-width:100%;height:auto}</style></head><body>\n"
            f"<pre>{html.escape(printable(report['text']))}</pre>\n"
            + "".join(f"<svg{picture}" for picture in pictures)
            + "</body></html>\n"
        )


# Comparisons


def compare(first, second):
    def numbers(report):
        """Flattens a report to its numbers, by path."""
        found = {}

        def visit(path, value):
            if isinstance(value, dict):
                for key, member in value.items():
                    visit(path + [key], member)
            elif isinstance(value, (int, float)) and not isinstance(value, bool):
                found[" ".join(path)] = value

        visit([], {key: report[key] for key in report if key not in ("exit_code", "rooms")})
        memory = [second["relay_bytes"] for second in report.get("series", []) if "relay_bytes" in second]
        if memory:
            found["relay, peak bytes"] = max(memory)
        return found

    reports = [read(path, "latency_ms") for path in (first, second)]
    for letter, report in zip("AB", reports):
        print(printable("{}: {}, seed {}: {}".format(letter, *map(report.get, ("scenario", "seed", "status")))))
    if any(reports[0].get(key) != reports[1].get(key) for key in ("scenario", "seed")):
        print("not the same scenario and seed: compare with care")
    before, after = map(numbers, reports)
    paths = list(dict.fromkeys([*before, *after]))
    width = max(map(len, paths), default=0)
    print(f"\n{'':{width}} {'A':>12} {'B':>12} {'B/A':>8}")
    for path in paths:
        a, b = before.get(path), after.get(path)
        cells = ["-" if value is None else f"{value:.7g}" for value in (a, b)]
        ratio = "-" if a is None or b is None or a <= 0 else f"{b / a:.2f}"
        print(printable(f"{path:{width}} {cells[0]:>12} {cells[1]:>12} {ratio:>8}"))


# Tables in documents

MAIN_ROWS = ["echo-1", "echo-16", "room-1", "room-8", "room-32", "dms-1", "dms-8", "connects", "idle"]
LIBRARY = "uWebSockets"


def median(values):
    values = sorted(values)
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2


def short_table(path, report):
    """The rows that the README shows, in Markdown."""
    if report["extent"] == "quick":
        sys.exit(f"{path}: a quick run has no figures for documents: run `make bench`")
    rows = {row["id"]: row for row in report["rows"]}
    for name in MAIN_ROWS:
        if name not in rows:
            sys.exit(f"{path}: there is no row {name}: run `make bench` without --rows")
        if "fault" in rows[name]:
            sys.exit(f"{path}: the row {name} has a fault, not a figure: {rows[name]['fault']}")
    rows = [rows[name] for name in MAIN_ROWS]

    def figure(row, value):
        if value is None:
            return "–"
        if row["unit"] == "bytes" or value < 1e3:
            return f"{value:.0f}"
        if value < 1e5:
            return f"{value / 1e3:.1f} k"
        return f"{value / 1e3:.0f} k" if value < 1e6 else f"{value / 1e6:.2f} M"

    def ratio(row):
        peer = next(peer for peer in row["peers"] if peer["name"] == LIBRARY)
        pairs = zip(row["pairs"], peer.get("runs", []))
        ratios = [pair["relay"] / run for pair, run in pairs] or [row["relay"] / peer["figure"]]
        return f"{median(ratios):.2f}"

    peers = [{peer["name"]: peer.get("figure") for peer in row["peers"]} for row in rows]
    names = [n for n in dict.fromkeys(n for p in peers for n in p) if any(p.get(n) for p in peers)]
    library = [LIBRARY] if LIBRARY in names else []
    others = [name for name in names if name != LIBRARY]
    table = [
        ["work", "floor", *library, "relay", "÷ floor", *(f"÷ {name}" for name in library), *others]
    ]
    table.append(["---"] + ["---:"] * (len(table[0]) - 1))
    for row, peer in zip(rows, peers):
        table.append(
            [
                row["work"] + ("" if row["unit"].startswith("deliveries") else f", {row['unit']}"),
                figure(row, row.get("floor")),
                *(figure(row, peer.get(name)) for name in library),
                figure(row, row.get("relay")),
                f"{row['ratio']:.2f}" if "ratio" in row else "–",
                *(ratio(row) for _ in library),
                *(figure(row, peer.get(name)) for name in others),
            ]
        )
    facts = {"commit": "unknown"} | {fact["name"]: fact["text"] for fact in report["machine"]}
    origin = (
        f"{report['date'][:10]}, commit `{facts['commit']}`, {facts['cores']} cores"
        f" ({facts['processor']}), {facts['kernel']}."
    )
    if report["cores_taken_by_others"] > 0.15:
        origin += " Note: the machine was busy with other programs."
    return "\n".join("| " + " | ".join(cells) + " |" for cells in table) + f"\n\n{origin}"


def figures(report_path, *documents):
    """Replaces what is between `<!-- generated: NAME -->` and `<!-- end of NAME -->`."""
    report = read(report_path, "rows")
    sections = {
        "bench-figures": short_table(report_path, report),
        "bench-rows": f"<!-- not run: a table -->\n```\n{report.get('text', '').rstrip()}\n```",
    }
    texts = {}
    for path in documents:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for name, section in sections.items():
            start, end = f"<!-- generated: {name} -->\n", f"<!-- end of {name} -->\n"
            before, found, rest = text.partition(start)
            if found:
                _, found, after = rest.partition(end)
                if not found:
                    sys.exit(f"{path}: the line {end.strip()} is missing")
                text = f"{before}{start}\n{section}\n\n{end}{after}"
                texts[path] = text
        if path not in texts:
            sys.exit(f"{path} has no line <!-- generated: NAME -->, with a NAME of {', '.join(sections)}")
    # No document is written if another does not fit.
    for path, text in texts.items():
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    commands = {"page": page, "compare": compare, "figures": figures}
    if len(sys.argv) < 4 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])
