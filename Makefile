# The front door. Works on a bare Debian 12 with git and make; tools/setup fetches the rest.
# Plain `make` shows the help, because the other targets may install packages.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help configured build demo test asan tsan sim fuzz torture bench soak format lint install clean

PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc)
CMAKE_ARGS ?=
RUNS ?= 1000000
SECONDS ?=
SEED ?= 1

# make sim
SEEDS ?= 1000000
HOURS ?=
FIRST ?= random

STAGE := @tools/stage

help:
	@echo 'make build     the library and programs (build/release, build/bin)'
	@echo 'make demo      build the program and show what goes wrong without a lock, and not with one'
	@echo 'make test      build and run every test, the simulation and the models'
	@echo 'make asan      the suites under AddressSanitizer and UndefinedBehaviorSanitizer'
	@echo 'make tsan      the library under ThreadSanitizer'
	@echo 'make sim       the simulation for as long as you like: SEEDS=$(SEEDS), HOURS=..., FIRST=random'
	@echo 'make fuzz      libFuzzer over every reader of foreign bytes; RUNS=1000000 each, or SECONDS=60'
	@echo 'make torture   thousands of acquires and a fault in twenty on real stores (SEED=$(SEED)); reports in build/torture'
	@echo 'make bench     what locks cost on the embedded store, Redis and ZooKeeper, beside the raw limit; wants an idle machine'
	@echo 'make soak      a thousand kills, the long simulation and the long model check'
	@echo 'make format    format the sources in place'
	@echo 'make lint      check the format and run clang-tidy'
	@echo 'make install   install under PREFIX=$(PREFIX), staged in DESTDIR'
	@echo 'make clean     remove build/'
	@echo
	@echo 'JOBS=$(JOBS) sets the parallelism, CMAKE_ARGS=... is added when configuring.'
	@echo 'Missing packages are installed by tools/setup (as root, or through sudo).'

# The first build leaves the tests out, so that it needs no test packages. A tree that is already
# configured keeps its choice.
configured:
	$(STAGE) packages tools/setup build
ifneq ($(CMAKE_ARGS)$(wildcard build/release/build.ninja),$(CMAKE_ARGS)build/release/build.ninja)
	$(STAGE) configure cmake --preset release -DHOLDFAST_TESTS=OFF $(CMAKE_ARGS)
else ifneq ($(CMAKE_ARGS),)
	$(STAGE) configure cmake build/release $(CMAKE_ARGS)
endif

build: configured
	$(STAGE) build cmake --build build/release -j $(JOBS)

demo: configured
	$(STAGE) build cmake --build build/release -j $(JOBS) --target holdfast-program
	$(STAGE) 'two shops, one shelf' build/bin/holdfast demo oversell
	$(STAGE) 'a shop is killed' build/bin/holdfast demo oversell --kill
	$(STAGE) 'a holder is stopped' build/bin/holdfast demo oversell --pause

test:
	$(STAGE) packages tools/setup build test
	$(STAGE) configure cmake --preset release $(CMAKE_ARGS)
	$(STAGE) build cmake --build build/release -j $(JOBS)
	$(STAGE) test tools/run-tests release -j $(JOBS)

asan tsan:
	$(STAGE) packages tools/setup build test
	$(STAGE) configure cmake --preset $@ $(CMAKE_ARGS)
	$(STAGE) build cmake --build build/$@ -j $(JOBS)
	$(STAGE) $@ tools/run-tests $@ -j $(JOBS)

fuzz:
	$(STAGE) packages tools/setup build test fuzz
	$(STAGE) configure cmake --preset fuzz $(CMAKE_ARGS)
	$(STAGE) build cmake --build build/fuzz -j $(JOBS) --target holdfast-fuzz
	$(STAGE) fuzz env JOBS=$(JOBS) RUNS=$(RUNS) SECONDS_EACH=$(SECONDS) tools/fuzz build/fuzz/bin/holdfast-fuzz

torture:
	$(STAGE) packages tools/setup build test
	$(STAGE) configure cmake --preset release $(CMAKE_ARGS)
	$(STAGE) build cmake --build build/release -j $(JOBS) --target holdfast-torture
	$(STAGE) 'torture of sqlite' build/bin/holdfast-torture --store 'sqlite:{}/locks.db' \
	  --seed $(SEED) --ops 10000 --faults 500 --report build/torture/sqlite
	$(STAGE) 'torture of dir' build/bin/holdfast-torture --store 'dir:{}' \
	  --seed $(SEED) --ops 10000 --faults 500 --report build/torture/dir
	$(STAGE) 'torture of redis' build/bin/holdfast-torture --store 'redis://{}' \
	  --seed $(SEED) --ops 10000 --faults 500 --report build/torture/redis
	$(STAGE) 'torture of zookeeper' build/bin/holdfast-torture --store 'zk://{}/torture' \
	  --seed $(SEED) --ops 5000 --faults 250 --report build/torture/zookeeper
	$(STAGE) 'torture of three zookeepers' build/bin/holdfast-torture --store 'zk://{},{},{}/torture' \
	  --seed $(SEED) --ops 5000 --faults 250 --report build/torture/zookeeper-ensemble

# HOURS alone means as many seeds as it takes. A violating seed is shown at once, and it goes on.
sim:
	$(STAGE) packages tools/setup build test
	$(STAGE) configure cmake --preset release $(CMAKE_ARGS)
	$(STAGE) build cmake --build build/release -j $(JOBS) --target holdfast-sim
	$(STAGE) simulation nice build/bin/holdfast-sim --first-seed $(FIRST) --jobs $(JOBS) \
	  $(if $(HOURS),--hours $(HOURS),--seeds $(SEEDS))

bench:
	$(STAGE) packages tools/setup build test bench
	$(STAGE) configure cmake --preset release $(CMAKE_ARGS)
	$(STAGE) build cmake --build build/release -j $(JOBS) --target holdfast holdfast-bench-redis holdfast-bench-zookeeper
	$(STAGE) 'the embedded store' build/bin/holdfast bench
	$(STAGE) redis build/bin/holdfast-bench-redis
	$(STAGE) zookeeper build/bin/holdfast-bench-zookeeper

soak:
	$(STAGE) packages tools/setup build test
	$(STAGE) configure cmake --preset release $(CMAKE_ARGS)
	$(STAGE) build cmake --build build/release -j $(JOBS)
	$(STAGE) 'a thousand kills' env HOLDFAST_KILLS=1000 build/bin/sqlite_tests --gtest_filter='SqliteKill.*'
	$(STAGE) simulation nice build/bin/holdfast-sim --first-seed random --seeds 1000000 --jobs $(JOBS)
	$(STAGE) models bash tests/models/check.sh long

format:
	$(STAGE) packages tools/setup lint
	$(STAGE) format tools/format

lint:
	$(STAGE) packages tools/setup build test lint
	$(STAGE) format tools/format --check
	$(STAGE) configure cmake --preset lint $(CMAKE_ARGS)
	$(STAGE) clang-tidy tools/tidy build/lint $(JOBS)

install: build
	$(STAGE) install env DESTDIR='$(DESTDIR)' cmake --install build/release --prefix '$(PREFIX)'

clean:
	rm -rf build
