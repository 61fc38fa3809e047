"""Runs the cases that `autobahn` was asked for, and reports the results.

Settings come in the environment, RA_*, and the command under test as the arguments.
"""
import collections
import fnmatch
import glob
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from urllib.parse import urlsplit

env = os.environ
mode, url, agent = env["RA_MODE"], env["RA_URL"], env["RA_AGENT"]
out = os.path.abspath(env["RA_OUT"])
jobs, port, wait, timeout = (int(env["RA_" + k]) for k in ("JOBS", "PORT", "WAIT", "TIMEOUT"))
verbose, command = env["RA_VERBOSE"] == "1", sys.argv[1:]
# The worst first: a case counts as the worse of its behaviour and its closing behaviour.
VERDICTS = (
    "MISSING", "UNIMPLEMENTED", "FAILED", "FAILED BY CLIENT", "UNCLEAN", "WRONG CODE", "NON-STRICT",
    "INFORMATIONAL", "OK")
PASS = VERDICTS[-3:]
ALWAYS_COUNTED = ("OK", "NON-STRICT", "INFORMATIONAL", "FAILED", "UNIMPLEMENTED", "UNCLEAN")
children = []
deadline = time.monotonic() + timeout

own_env = {k: v for k, v in env.items() if not k.startswith("RA_")}
py2_env = dict(
    own_env, PYTHONUNBUFFERED="1", PYTHONWARNINGS="ignore", WSTEST_LOG_BYTES=env["RA_LOG_BYTES"])
for k in ("PYTHONPATH", "PYTHONHOME"):
    py2_env.pop(k, None)
if env["RA_PY2_LIB"]:
    py2_env["LD_LIBRARY_PATH"] = env["RA_PY2_LIB"]
WSTEST = [env["RA_PYTHON"], env["RA_SUITE"]]


def say(text):
    print("autobahn:", text, file=sys.stderr, flush=True)


def give_up(text):
    say(text)
    sys.exit(2)


def start(argv, **kw):
    p = subprocess.Popen(argv, stdin=subprocess.DEVNULL, start_new_session=True, **kw)
    children.append(p)
    return p


def stop(p, grace=5):
    """End a process this script started, and its children."""
    for sig in (signal.SIGTERM, signal.SIGKILL):
        if p.poll() is not None:
            return
        try:
            os.killpg(p.pid, sig)
        except ProcessLookupError:
            pass
        try:
            p.wait(grace)
        except subprocess.TimeoutExpired:
            pass


def key(case):
    return [int(x) for x in case.split(".")]


def listening(host, port, secs, proc=None):
    end = time.monotonic() + secs
    while True:
        try:
            socket.create_connection((host, port), 2).close()
            return True
        except OSError:
            if time.monotonic() > end or (proc is not None and proc.poll() is not None):
                return False
            time.sleep(0.1)


def choose():
    """The case ids to run, in order."""
    listed = subprocess.run(
        WSTEST + ["list"], env=py2_env, cwd=os.path.dirname(WSTEST[0]), check=True,
        stdout=subprocess.PIPE)
    ids = json.loads(listed.stdout.splitlines()[-1])

    def matching(patterns):
        got = set()
        for p in filter(None, (p.strip() for p in patterns.split(","))):
            m = [c for c in ids if fnmatch.fnmatchcase(c, p) or c.startswith(p + ".")]
            if not m:
                give_up("no case matches %r" % p)
            got.update(m)
        return got

    return sorted(matching(env["RA_CASES"]) - matching(env["RA_EXCLUDE"]), key=key)


def clean():
    """Make the out directory, or empty it of an earlier report."""
    os.makedirs(out, exist_ok=True)
    if os.listdir(out) and not os.path.exists(os.path.join(out, "spec-0.json")):
        give_up("%s contains something that is not a report of this script" % out)
    for pattern in (
            "index.*", "summary.json", "*_case_*.json", "*_case_*.html", "wstest-*.log",
            "client-*.log", "part-*", "spec-*.json"):
        for f in glob.glob(os.path.join(glob.escape(out), pattern)):
            if os.path.isdir(f):
                shutil.rmtree(f)
            else:
                os.remove(f)


class Part:
    """One wstest process and its share of the cases."""

    def __init__(self, n, cases):
        self.n, self.cases = n, cases
        self.dir = out if jobs == 1 else os.path.join(out, "part-%d" % n)
        os.makedirs(self.dir, exist_ok=True)
        self.log = os.path.join(out, "wstest-%d.log" % n)
        spec = {"outdir": self.dir, "cases": cases, "exclude-cases": [], "exclude-agent-cases": {}}
        if mode == "server":
            spec["servers"] = [{"agent": agent, "url": url}]
        else:
            self.port = port + n if port else 0
            with socket.socket() as s:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    s.bind(("127.0.0.1", self.port))
                except OSError as e:
                    give_up("port %d: %s" % (self.port, e))
                self.port = s.getsockname()[1]
            self.url = spec["url"] = "ws://127.0.0.1:%d" % self.port
        self.spec = os.path.join(out, "spec-%d.json" % n)
        with open(self.spec, "w") as f:
            json.dump(spec, f)

    def start(self):
        fuzzer = "fuzzingclient" if mode == "server" else "fuzzingserver"
        with open(self.log, "wb") as log:
            self.wstest = start(
                WSTEST + ["-m", fuzzer, "-s", self.spec, "-u", "0"],
                env=py2_env, cwd=self.dir, stdout=log, stderr=subprocess.STDOUT)
        self.main = self.wstest
        if mode == "client":
            if not listening("127.0.0.1", self.port, 60, self.wstest):
                give_up("wstest did not start to listen on port %d; see %s" % (self.port, self.log))
            argv = [a.replace("{url}", self.url).replace("{agent}", agent) for a in command]
            with open(os.path.join(out, "client-%d.log" % self.n), "wb") as log:
                try:
                    self.main = start(
                        argv, env=dict(own_env, AUTOBAHN_URL=self.url, AUTOBAHN_AGENT=agent),
                        stdout=log, stderr=subprocess.STDOUT)
                except OSError as e:
                    give_up("cannot run %s: %s" % (argv[0], e))

    def begun(self):
        try:
            with open(self.log, "rb") as f:
                return f.read().count(b"Running test case ID")
        except OSError:
            return 0

    def finish(self):
        """Have wstest write its report, if it has not ended by itself."""
        if self.main is not self.wstest:
            time.sleep(0.5)  # for the last case's connection to be seen to close
        stop(self.wstest, 120)


def run():
    cases = choose()
    if not cases:
        give_up("no cases left to run")
    if mode == "server":
        u = urlsplit(url)
        if u.scheme != "ws" or not u.hostname:
            give_up("not a ws:// URL: %s" % url)
        if not listening(u.hostname, u.port or 80, wait):
            give_up("nothing listens at %s" % url)
    clean()
    say("%d cases, %s mode, %d at a time; report in %s" % (len(cases), mode, jobs, out))
    t0 = time.monotonic()
    parts = [Part(n, cases[n::jobs]) for n in range(min(jobs, len(cases)))]
    for p in parts:
        p.start()
    told = t0
    timed_out = False
    while any(p.main.poll() is None for p in parts):
        time.sleep(0.2)
        now = time.monotonic()
        if now > deadline:
            timed_out = True
            say("not finished after %d seconds, stopping" % timeout)
            break
        if now - told >= 30:
            told = now
            say("%d of %d cases begun" % (sum(p.begun() for p in parts), len(cases)))
    for p in parts:
        if timed_out and p.main is not p.wstest:
            stop(p.main)
    statuses = [p.main.poll() for p in parts]
    for p in parts:
        p.finish()
    judge(cases, parts, statuses, timed_out, time.monotonic() - t0)


def gather(parts):
    """All reports as one, agent by agent."""
    index = {}
    for p in parts:
        try:
            with open(os.path.join(p.dir, "index.json")) as f:
                for a, results in json.load(f).items():
                    index.setdefault(a, {}).update(results)
        except (OSError, ValueError):
            say("no report from wstest %d; see %s" % (p.n, p.log))
        if p.dir != out:
            for f in glob.glob(os.path.join(glob.escape(p.dir), "*_case_*")):
                shutil.move(f, os.path.join(out, os.path.basename(f)))
            shutil.rmtree(p.dir)
    with open(os.path.join(out, "index.json"), "w") as f:
        json.dump(index, f, indent=1, sort_keys=True)
    return index


def verdict(result):
    if not result:
        return "MISSING"
    both = result["behavior"], result["behaviorClose"]
    unknown = [b for b in both if b not in VERDICTS]
    return unknown[0] if unknown else min(both, key=VERDICTS.index)


def reason(result, of):
    """Why a case is not OK, in the suite's words."""
    if of == "MISSING":
        return "no result; see the logs in %s" % out
    if of == "UNIMPLEMENTED":
        return "the peer did not agree to the extension"
    try:
        with open(os.path.join(out, result["reportfile"])) as f:
            d = json.load(f)
    except (OSError, ValueError):
        return "no report"
    parts = (("result", "behavior"), ("resultClose", "behaviorClose"))
    why = "; ".join(dict.fromkeys(d[text] for text, b in parts if result[b] != "OK"))
    if d.get("remoteCloseCode") is not None:
        words = json.dumps(d.get("remoteCloseReason") or "")
        why += " [closed by peer with %s %s]" % (d["remoteCloseCode"], words)
    return why


def judge(cases, parts, statuses, timed_out, secs):
    index = gather(parts)
    counts, sections, remarks = collections.Counter(), {}, []
    for a in sorted(index) or [agent]:
        for c in cases:
            r = index.get(a, {}).get(c)
            v = verdict(r)
            counts[v] += 1
            s = sections.setdefault(c.split(".")[0], collections.Counter())
            s["ms"] += r["duration"] if r else 0
            s["passed" if v in PASS else "failed"] += 1
            if v != "OK":
                remarks.append({"agent": a, "case": c, "verdict": v, "why": reason(r, v)})
    failed = [r for r in remarks if r["verdict"] not in PASS]

    if verbose:
        print("section  passed  failed  seconds")
        for s in sorted(sections, key=int):
            v = sections[s]
            print("%-7s %7d %7d %8.1f" % (s + ".*", v["passed"], v["failed"], v["ms"] / 1000))
    for r in remarks:
        print("%s %s: %s" % (r["verdict"], r["case"], r["why"]))
    bad_exit = [s for s in statuses if s != 0]
    if bad_exit and not timed_out:
        who = "the client" if mode == "client" else "wstest"
        print("%s exited with %s; see the logs in %s" % (who, ", ".join(map(str, bad_exit)), out))
    if failed:
        print("failing: " + " ".join(f["case"] for f in failed))
    kinds = [v for v in reversed(VERDICTS) if counts[v] or v in ALWAYS_COUNTED]
    kinds += sorted(set(counts) - set(VERDICTS))
    print("%s: %d cases in %.0f s: %s" % (
        mode, sum(counts.values()), secs, ", ".join("%d %s" % (counts[k], k) for k in kinds)))
    with open(os.path.join(out, "summary.json"), "w") as f:
        json.dump({"mode": mode, "counts": counts, "remarks": remarks, "failed": len(failed),
                   "sections": sections, "seconds": round(secs, 1), "exit_statuses": statuses,
                   "timed_out": timed_out}, f, indent=1)
    sys.exit(0 if not failed and not bad_exit and not timed_out else 1)


def interrupted(signum, frame):
    sys.exit(128 + signum)


signal.signal(signal.SIGTERM, interrupted)
signal.signal(signal.SIGINT, interrupted)
try:
    run()
finally:
    for p in children:
        stop(p)
