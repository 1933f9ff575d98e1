# `make run` and `make test` do everything on a fresh Debian 12 (or Ubuntu) that has a Swift 6.1+ toolchain.
SWIFT ?= swift
export SWIFT

# Warnings are errors here, and only here: in the manifest they would bind everybody who depends on the package.
STRICT := -Xswiftc -warnings-as-errors
# The product's own build, for people who run it, and the tests' build.
RELEASE := $(SWIFT) build -c release --product glasswing
GLASSWING := .build/release/glasswing

.PHONY: help deps deps-test build run test test-tsan bench bench-peers fuzz format lint docs clean

help: ## what there is to make
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1|\2/p' Makefile | awk -F'|' '{ printf "make %-10s %s\n", $$1, $$2 }'

deps: ## install the Debian packages that building needs (says so first)
	@scripts/check-toolchain
	@scripts/install-packages build

deps-test:
	@scripts/check-toolchain
	@scripts/install-packages test

build: deps ## the command, optimised: .build/release/glasswing
	$(RELEASE)

run: build ## simulated glasses in this terminal
	@$(GLASSWING) demo

test: deps-test ## every test that needs no device, the example's too, in under ten minutes
	$(SWIFT) build --build-tests $(STRICT)
	$(SWIFT) test --skip-build $(STRICT) --skip '^GlasswingCommandTests\.'
	# Apart, since they start the command and look at what it does in real time, which takes a processor that is free.
	$(SWIFT) test --skip-build $(STRICT) --filter '^GlasswingCommandTests\.'
	$(RELEASE)
	@scripts/smoke
	$(SWIFT) test --package-path Packages/AppleMediaModules
	$(SWIFT) test --package-path Examples/App

test-tsan: deps-test ## the package's tests under the thread sanitizer
	@scripts/test-tsan

bench: deps-test build ## figures for docs/performance.md; asserts nothing
	@for name in first-frame latency link record allocations audio; do $(GLASSWING) bench $$name || exit 1; done

bench-peers: deps-test ## beside GStreamer RTP and ffmpeg SRT, where they are installed
	$(SWIFT) build -c release --product glasswing
	@scripts/bench-peers

fuzz: deps-test ## each parser against random bytes (SECONDS_EACH=10)
	@scripts/fuzz

format: ## rewrite the sources in the project's format
	$(SWIFT) format --in-place --parallel --recursive Package.swift Sources Tests Packages Examples Fuzz scripts

lint: deps-test ## format, forbidden calls, and no warning anywhere
	@scripts/lint
	$(SWIFT) build --build-tests $(STRICT)

docs: deps ## DocC pages of the public modules in .build/docs
	@scripts/build-docs

clean: ## forget everything built
	rm -rf .build
