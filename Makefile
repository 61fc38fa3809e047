# make run · make test · make help
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: run build check test test-machine test-fresh bench bench-full conformance faults simulate \
  simulate-bugs fuzz fuzz-coverage fuzz-bugs test-tsan test-asan pictures bench-screen bench-hostile format lint \
  install uninstall help

# Swift installs where its user likes; its own default is looked at besides PATH.
SWIFT := $(shell command -v swift || { [ -x /opt/swift/usr/bin/swift ] && echo /opt/swift/usr/bin/swift; })
ifeq ($(SWIFT),)
ifneq ($(filter-out help install uninstall,$(or $(MAKECMDGOALS),help)),)
$(error Swift is not in PATH: install Swift 6.3 from https://www.swift.org/install and open a new shell)
endif
endif

PREFIX ?= /usr/local
# One binary that needs no Swift where it runs.
RELEASE := -c release --static-swift-stdlib
BUILT ?= .build/release
COMMANDS := $(addprefix $(BUILT)/,relay wschat swarm)
OWN := $(wildcard Sources Tests LoadTests Package.swift)
SCRIPTS := Tests/run Tests/fresh-machine Tests/Conformance/run Tests/certificates Tests/Simulation/catch-bugs \
  Tests/Simulation/PlantedBugs/plant Tests/Fuzz/run Tests/Fuzz/unpack Tests/Fuzz/minimize \
  Tests/Fuzz/coverage Tests/Fuzz/catch-bugs Tests/Sanitizers/run config/setup config/bots/dice .ci/run
BASH_SCRIPTS := Tests/Conformance/autobahn

help:
	@echo 'make run               start a relay on 127.0.0.1:8080 with example bots'
	@echo 'make test              run every test but those of test-machine'
	@echo 'make check             check the style, test the modules that do no I/O, simulate 200 seeds'
	@echo 'make test-machine      run the tests that measure, on a machine that does nothing else'
	@echo 'make test-fresh        make test on a new Debian with nothing but git, make and Swift, as root'
	@echo "make conformance       hold relay and client against the Autobahn suite; CASES='2,7.1.*' EXCLUDE=9 for less"
	@echo 'make faults            kill, stop, starve and unplug a relay under load, for five minutes'
	@echo 'make bench             measure the relay beside a floor and its peers, in a quarter of an hour'
	@echo 'make bench-full        the same with what takes longer'
	@echo 'make bench-screen      measure wschat on its terminal'
	@echo 'make bench-hostile     measure what one user can do to the others'
	@echo 'make pictures          take the pictures of wschat in docs/pictures'
	@echo 'make simulate          play the relay from seeds, with faults, for an hour; SECONDS=600 for less'
	@echo 'make simulate-bugs     see how soon the simulation finds bugs that are planted'
	@echo 'make fuzz              feed every parser made-up input, a minute each; SECONDS=600 for more'
	@echo 'make fuzz-coverage     see how much of WebSocket the kept inputs reach'
	@echo 'make fuzz-bugs         see whether the fuzzer finds a bug that is planted'
	@echo "make test-tsan         run the tests under Thread Sanitizer; TESTS='^PlatformTests' for less"
	@echo 'make test-asan         run the tests under Address Sanitizer; TESTS= for less'
	@echo 'make build             build the commands for release, into .build/release'
	@echo 'make install PREFIX=   install relay, wschat and swarm with their manuals, to /usr/local by default'
	@echo 'make uninstall PREFIX= remove them'
	@echo 'make format            format the code'
	@echo 'make lint              check its format and style'

run: build
	@echo
	@echo 'The relay starts. In another terminal, from this folder, chat with a bot:'
	@echo '  $(CURDIR)/.build/release/wschat --to echo --user ada'
	@echo 'or with everyone:'
	@echo '  $(CURDIR)/.build/release/wschat --room general --user ada'
	@echo 'What is said stays in ./data. Ctrl-C stops the relay.'
	@echo
	@exec .build/release/relay serve --config config/demo.yaml

build:
	@config/setup
	@$(SWIFT) build $(RELEASE)

# The simulation plays the same seeds every time, a minute or two of them: a test is not to fail by
# chance, and `make simulate` is there to find more. The tests that run the commands, from
# TEST_BIN_DIR, run by themselves, since they load the machine.
#
# A suite whose name begins with "Measured: " holds time or memory against a bound. What it finds says
# something about the code only where nothing else runs, so that test-machine runs these suites, and
# `make test` the others: each test is in one of the two, by its name.
test:
	@config/setup test
	@$(SWIFT) build $(RELEASE) --product simulate
	@$(SIMULATE) --store sqlite --seeds 900
	@$(SIMULATE) --store memory --seeds 450
	@$(SWIFT) build --build-tests
	@echo "$$($(SWIFT) test list --skip-build | grep -c $(MEASURED)) tests that measure are left" \
	  'to make test-machine'
	@$(TEST) --skip '^EndToEndTests\.' --skip '^SwarmTests\.' --skip $(MEASURED)
	@for target in SwarmTests EndToEndTests; do \
	  TEST_BIN_DIR="$$($(SWIFT) build --show-bin-path)" \
	    $(TEST) --filter "^$$target\." --skip $(MEASURED) || exit 1; \
	done

TEST := SWIFT=$(SWIFT) Tests/run --skip-build
MEASURED := Measured:

test-machine:
	@config/setup test
	@$(SWIFT) build --build-tests
	@TEST_BIN_DIR="$$($(SWIFT) build --show-bin-path)" \
	  $(TEST) --no-parallel --filter $(MEASURED)

# What may be run before each commit.
PURE := ^(Package|Mixing|WebSocket|Wire|Relay)Tests\.
check: lint
	@config/setup
	@$(SWIFT) build $(RELEASE) --product simulate
	@$(SIMULATE) --store sqlite --seeds 200
	@$(SWIFT) build --build-tests
	@$(TEST) --filter '$(PURE)' --skip $(MEASURED)

test-fresh:
	@SWIFT=$(SWIFT) Tests/fresh-machine make test

# The Autobahn suite, which is installed into a cache of its own. CASES and EXCLUDE narrow it, and
# JOBS says how much runs side by side: see Tests/Conformance.
CONFORMANCE := Tests/Conformance/run .build/release/relay .build/release/conformance-client
conformance: build
	@config/setup conformance || echo 'conformance: goes on without them' >&2
	@$(CONFORMANCE) .build/conformance

# The relay, its log and its disk from seeds, against a model: see Tests/Simulation.
SIMULATE := .build/release/simulate
SECONDS ?= 3600
simulate:
	@config/setup
	@$(SWIFT) build $(RELEASE) --product simulate
	@$(SIMULATE) --store both --seconds $(SECONDS)

# A copy of the package with a bug in it, or rather with all of them: see Tests/Simulation/PlantedBugs.
PLANT := Tests/Simulation/PlantedBugs/plant .build/planted
simulate-bugs:
	@config/setup
	@$(PLANT)
	@$(SWIFT) build $(RELEASE) --package-path .build/planted --product simulate
	@Tests/Simulation/catch-bugs .build/planted/.build/release/simulate

# libFuzzer is a library of the program, which keeps its own `main`; so it is linked, and the code
# instrumented for it, by hand. Each target runs for SECONDS: see Tests/Fuzz. lld, since gold cannot
# link the sanitizer.
SWIFT_LIBRARIES = $(shell $(SWIFT) -print-target-info | \
  sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
FUZZER = $(SWIFT_LIBRARIES)/clang/lib/linux/libclang_rt.fuzzer_no_main-$(shell uname -m).a
FUZZ_FLAGS = -Xswiftc -Xfrontend -Xswiftc -sanitize=fuzzer -Xswiftc -use-ld=lld \
  -Xlinker $(FUZZER) -Xlinker -lstdc++
FUZZ_SECONDS = $(if $(filter command environment,$(firstword $(origin SECONDS))),$(SECONDS),60)

fuzz:
	@config/setup
	@FUZZING=1 $(SWIFT) build -c release --scratch-path .build/fuzz --sanitize address \
	  --product fuzz $(FUZZ_FLAGS)
	@Tests/Fuzz/run .build/fuzz/release/fuzz $(FUZZ_SECONDS) .build/fuzz

# How soon it finds a bug that is planted, from nothing.
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

# The tests under Thread and Address Sanitizer, the commands that they start as well, in builds of
# their own. Left out are SwarmTests and what is measured, which are about time, of which a sanitizer
# takes several times as much; and, of Thread Sanitizer, SimulationTests, where there is one thread. Mutex.o shows it a
# lock that it cannot see. What has been linked with an older one is built anew. See Tests/Sanitizers.
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

# Each scenario ends with 0, or something is wrong; five minutes.
FAULTS := kills pause full-disk power-loss
faults: build
	@for scenario in $(FAULTS); do \
	  .build/release/swarm run LoadTests/scenarios/$$scenario.yaml --quiet || exit $$?; done

# Writes bench.json and bench.html to BENCH_BUILT. Fails if a ratio is below the one in baseline.json.
# To take a new baseline: cp .build/bench/bench.json LoadTests/results/baseline.json
# BENCH adds flags: make bench BENCH='--rows room,dms'
BENCH_BUILT := .build/bench
BENCH_RESULTS := LoadTests/results
BENCH_BASELINE := $(BENCH_RESULTS)/baseline.json
BENCH_PEERS := golang-github-centrifugal-centrifuge-dev nats-server libnginx-mod-nchan nodejs node-ws
BENCH_FLAGS = --built $(BENCH_BUILT) --json $(BENCH_BUILT)/bench.json \
  --html $(BENCH_BUILT)/bench.html \
  $(if $(wildcard $(BENCH_BASELINE)),--baseline $(BENCH_BASELINE)) \
  --fact "Swift=$$($(SWIFT) --version 2>/dev/null | sed -n 's/.*Swift version \([^ ]*\).*/\1/p')" \
  --fact "SQLite=$$(pkg-config --modversion sqlite3 2>/dev/null)" \
  --fact "peers=$$(dpkg-query -W -f '$${Package} $${Version}, ' $(BENCH_PEERS) 2>/dev/null)" \
  --fact "commit=$$(git describe --always --dirty 2>/dev/null)"

bench bench-full: build $(BENCH_BUILT)/floor
	@config/setup bench || echo 'bench: it goes on without the servers that are missing' >&2
	@if command -v go >/dev/null && [ -d $(GO_SOURCES)/src/github.com/centrifugal/centrifuge ]; \
	  then $(MAKE) --no-print-directory $(BENCH_BUILT)/centrifuge; fi
	@.build/release/swarm bench $(if $(filter bench-full,$@),--full) $(BENCH_FLAGS) $(BENCH)

FLOOR := $(wildcard LoadTests/floor/*.[ch])
$(BENCH_BUILT)/floor: $(FLOOR)
	@mkdir -p $(@D)
	$(CC) -O2 -Wall -Wextra -Werror -o $@ $(filter %.c,$(FLOOR))

# From Debian's sources of it. Where they do not build, the benchmark goes on without.
GO_SOURCES := /usr/share/gocode
$(BENCH_BUILT)/centrifuge: LoadTests/peers/centrifuge.go
	@mkdir -p $(@D)
	-GO111MODULE=off GOPATH=$(GO_SOURCES) GOCACHE=$(CURDIR)/$(BENCH_BUILT)/go go build -o $@ $<

# wschat on its terminal: how soon it is there, how soon a key is seen, what it takes.
bench-screen: build
	@config/setup screen
	@/usr/bin/python3 -B LoadTests/screen/bench.py $(BUILT) --results $(BENCH_RESULTS)/screen.md

# What one user can do to the others; RELAYS='A B' sets several builds side by side.
bench-hostile: build
	@config/setup screen
	@/usr/bin/python3 -B LoadTests/hostile/bench.py $(or $(RELAYS),$(BUILT)/relay)

# What wschat looks like, drawn from what tmux has: see Tests/Screens.
pictures: build
	@config/setup pictures
	@mkdir -p docs/pictures
	@/usr/bin/python3 -B Tests/Screens/pictures.py $(BUILT) docs/pictures

format:
	@$(SWIFT) format --in-place --recursive $(OWN)

lint:
	@$(SWIFT) format lint --strict --recursive $(OWN)
	@for script in $(SCRIPTS); do sh -n "$$script" || exit 1; done
	@for script in $(BASH_SCRIPTS); do bash -n "$$script" || exit 1; done
	@if command -v shellcheck >/dev/null; then shellcheck $(SCRIPTS) $(BASH_SCRIPTS); fi

# `make build` first, as its owner: what root installs need not be built by root. BUILT is where that
# lies. The commands say themselves what a shell completes.
INSTALLED = $(DESTDIR)$(PREFIX)
MANUALS := Sources/Commands/RelayCommand/relay.1 Sources/Commands/WschatCommand/wschat.1 LoadTests/swarm/swarm.1
BASH_COMPLETIONS = $(INSTALLED)/share/bash-completion/completions
ZSH_COMPLETIONS = $(INSTALLED)/share/zsh/site-functions
FISH_COMPLETIONS = $(INSTALLED)/share/fish/vendor_completions.d
DOCUMENTATION = $(INSTALLED)/share/doc/relay

install:
	@for command in $(COMMANDS); do [ -x "$$command" ] || exec $(MAKE) build; done
	install -d "$(INSTALLED)/bin" "$(INSTALLED)/lib" "$(INSTALLED)/share/man/man1" "$(DOCUMENTATION)" \
	  "$(BASH_COMPLETIONS)" "$(ZSH_COMPLETIONS)" "$(FISH_COMPLETIONS)"
	install -m 755 $(COMMANDS) "$(INSTALLED)/bin"
	install -m 644 $(BUILT)/libPowerLossRecorder.so "$(INSTALLED)/lib"
	install -m 644 $(MANUALS) "$(INSTALLED)/share/man/man1"
	install -m 644 config/relay.yaml config/wschat.yaml "$(DOCUMENTATION)"
	install -m 644 LoadTests/README.md "$(DOCUMENTATION)/scenarios.md"
	umask 022; for command in $(COMMANDS); do \
	  name=$${command##*/}; \
	  "$$command" --generate-completion-script bash >"$(BASH_COMPLETIONS)/$$name" && \
	  "$$command" --generate-completion-script zsh >"$(ZSH_COMPLETIONS)/_$$name" && \
	  "$$command" --generate-completion-script fish >"$(FISH_COMPLETIONS)/$$name.fish" || exit 1; \
	done

# What `make install` has put there, and nothing else; the folders stay, but the one of our own.
uninstall:
	rm -f "$(INSTALLED)/lib/libPowerLossRecorder.so" "$(DOCUMENTATION)/relay.yaml" \
	  "$(DOCUMENTATION)/wschat.yaml" "$(DOCUMENTATION)/scenarios.md"
	for name in $(notdir $(COMMANDS)); do \
	  rm -f "$(INSTALLED)/bin/$$name" "$(INSTALLED)/share/man/man1/$$name.1" \
	    "$(BASH_COMPLETIONS)/$$name" "$(ZSH_COMPLETIONS)/_$$name" "$(FISH_COMPLETIONS)/$$name.fish"; \
	done
	[ ! -d "$(DOCUMENTATION)" ] || rmdir --ignore-fail-on-non-empty "$(DOCUMENTATION)"
