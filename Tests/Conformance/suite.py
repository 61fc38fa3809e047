"""wstest, in Python 2, as `autobahn` needs it.

`suite.py list` prints the ids of all cases; other arguments are wstest's own. What it listens on
is bound to loopback. Told to stop (SIGTERM) it first writes the report of what it has seen.
WSTEST_LOG_BYTES: how much of each write and read the wire logs show, 64 if absent.
"""
import json
import os
import sys

from autobahntestsuite import fuzzing, wstest
from twisted.internet import reactor

if sys.argv[1:] == ["list"]:
    f = fuzzing
    cases = f.CaseSet(f.CaseSetname, f.CaseBasename, f.Cases, f.CaseCategories, f.CaseSubCategories)
    print(json.dumps([cases.caseClasstoId(c) for c in f.Cases]))
    sys.exit()

fuzzing.binLogData.func_defaults = (int(os.environ.get("WSTEST_LOG_BYTES", "64")),)

listen = reactor.listenTCP


def on_loopback(port, factory, backlog=50, interface=""):
    return listen(port, factory, backlog, interface or "127.0.0.1")


reactor.listenTCP = on_loopback

F = fuzzing.FuzzingFactory
init, log, create = F.__init__, F.logCase, F.createReports


def __init__(self, outdir):
    init(self, outdir)
    self.unreported = True
    reactor.addSystemEventTrigger(
        "before", "shutdown", lambda: self.unreported and self.createReports())


def log_case(self, result):
    self.unreported = True
    log(self, result)


def create_reports(self):
    self.unreported = False
    create(self)


F.__init__, F.logCase, F.createReports = __init__, log_case, create_reports

wstest.run()
