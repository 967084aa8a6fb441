# Everything that CI does can be done here; nothing is only in CI.
#   make demo     builds, replays a recorded session, shows what is remembered, opens the viewer
#   make test     passes the tests
GO            ?= go
# VERSION is ordered: that of a release tag, else 0.1.0-dev.TIME+COMMIT, with the time of the commit.
BASE          := $(shell sed -n 's/^var Program = "\(.*\)"/\1/p' internal/capture/wire/program.go)
TIME          := $(shell TZ=UTC0 git log -1 --format=%cd --date=format-local:%Y%m%d%H%M%S 2>/dev/null)
VERSION       ?= $(or $(shell git describe --tags --exact-match --dirty --match 'v[0-9]*' 2>/dev/null),$(BASE)$(if $(TIME),.$(TIME)+$(shell git describe --always --dirty --exclude '*')))
# Functions begin at multiples of 16 bytes, not of 32: 0.3 MB less.
LDFLAGS       := -s -w -funcalign=16 -X $(shell $(GO) list -m)/internal/capture/wire.Program=$(VERSION)
BUILD         := CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)'
GOLANGCI_LINT := $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
FUZZTIME      ?= 10s
KILLS         ?= 1000
SOAK          ?= 10m
IN_MEMORY      = $(shell .ci/in-memory)
PLATFORMS     := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.PHONY: rename release build test judge viewer picture lint race fuzz torture faults soak bench e2e demo cross docs eval eval-search eval-recall eval-talk eval-turns learn-choice compare clean

build: ## both binaries into bin/, where the plugin of a checkout (claude --plugin-dir plugin) finds them
	@[ -d bin ] || echo "First build: Go downloads the modules and compiles them, mostly SQLite: 380 MB, one to three minutes. Later builds take seconds."
	$(BUILD) -o bin/ ./cmd/claude-mem ./cmd/claude-mem-hook

demo: build
	bin/claude-mem demo --open

test: ## twice as many packages at a time as there are processors, since the acceptance tests mostly wait; without go vet, which lint runs whole
	$(IN_MEMORY) $(GO) test -vet=off -p $(shell expr 2 '*' $$(getconf _NPROCESSORS_ONLN)) -timeout 25m ./...

judge: ## the table of secrets against gitleaks' detector: a module of its own, which downloads it the first time
	cd internal/capture/redact/judge && $(GO) vet . && $(GO) test -count=1 .

viewer: ## the viewer's pages in a headless Chromium, which must be installed: a module of its own, which downloads the driver the first time
	cd internal/serve/web/browser && $(GO) vet . && $(GO) test -count=1 -v .

picture: ## the picture of README, of the same records each time
	cd internal/serve/web/browser && $(GO) test -count=1 -run TestPicture . -picture ../../../../docs/viewer.png

lint:
	$(GO) vet ./...
	$(GO) vet -tags e2e,slow ./proof/acceptance/... ./proof/e2e ./internal/distil/model/claude
	$(GO) mod tidy -diff
	$(GOLANGCI_LINT) run --allow-parallel-runners
	.ci/deadcode
	.ci/vulncheck

race: ## what is concurrent, under the race detector
	$(IN_MEMORY) .ci/race

fuzz: ## each target for FUZZTIME
	$(IN_MEMORY) FUZZTIME=$(FUZZTIME) .ci/fuzz

torture: ## KILLS times kills worker, hooks and commands at random moments; SEED=N plays the same kills again
	$(IN_MEMORY) $(GO) test ./proof/acceptance/torture -run '^TestTorture$$' -count=1 -v -timeout 90m -kills $(KILLS) $(if $(SEED),-seed $(SEED))

faults: ## system calls of the worker and of hooks fail, by strace
	$(GO) test ./proof/acceptance/torture -tags slow -run '^TestFaults$$' -count=1 -v -timeout 30m

soak: ## eight agents for SOAK, with kills and a model that fails: the books balance, nothing grows
	$(GO) test ./proof/acceptance/torture -tags slow -run '^TestSoak$$' -count=1 -v -timeout 0 -soak $(SOAK)

bench:
	.ci/bench

eval: eval-search eval-recall ## how well search finds and what recall gives; EVAL_DATA names the folder of the sets

eval-search: ## by set beside plain BM25
	$(GO) run ./proof/eval -data "$(EVAL_DATA)"

eval-recall: ## at prompts that the memory has something on, and at others; the curve of the gate
	$(GO) run ./proof/eval -recall -data "$(EVAL_DATA)"

eval-talk: build ## what is remembered of talk, on two public sets; TALK_CLONES names the folder of their clones
	$(GO) run ./proof/eval/talk -clones "$(TALK_CLONES)" -bin bin -bars $(if $(SHOW),-show)

eval-turns: ## what is remembered of turns that nobody tuned for; TURNS_CLONES names the folder of the clones of their repositories
	$(GO) run ./proof/eval/turns -clones "$(TURNS_CLONES)" $(if $(SHOW),-show "$(SHOW)")

compare: ## beside plain BM25, deja-vu and claude-mem for Node; writes docs/comparison.md. EVAL_DATA names the folder of the sets, DEJAVU the program of deja-vu; needs Linux, npm and root
	@[ -n "$(EVAL_DATA)" ] && [ -n "$(DEJAVU)" ] || { echo "make compare EVAL_DATA=DIR DEJAVU=FILE"; exit 1; }
	$(IN_MEMORY) $(GO) test ./proof/compare -run '^TestCompare$$' -count=1 -v -timeout 60m -data "$(abspath $(EVAL_DATA))" -deja "$(abspath $(DEJAVU))" -version "$(VERSION)" -write "$(CURDIR)/docs/comparison.md"

learn-choice: ## the weights by which the offline distiller chooses titles; CASES names folders of cases, by commas, TURNS_CLONES that of clones
	$(GO) run ./proof/eval/choose -cases "$(CASES)" -write internal/distil/offline/weights.json

e2e: ## sessions through the real Claude Code CLI, and the MCP inspector; needs npm the first time
	$(GO) test -tags e2e -count=1 -v ./proof/e2e

cross: ## every platform builds, tests compile
	.ci/cross $(PLATFORMS)

docs: ## docs/settings.md from the table of settings, the findings of docs/doctor.md from that of the doctor, the licences in NOTICE from the linked modules
	$(GO) test ./internal/leaf/settings -run TestSettingsDocument -update
	$(GO) test ./internal/run/doctor -run TestDocument -update
	$(GO) test ./proof/house -run TestNotice -update

accept-%: ## the acceptance of a subject (capture observer search recall install house code memory safe viewer history hosts first talk release impact devices teams), one line per point
	proof/acceptance/accept-$*

rename: ## the module's path, in go.mod, imports and nested modules: make rename MODULE=example.org/you/claude-mem
	.ci/rename "$(MODULE)"

release: ## archives, packages, SBOM and installers of HEAD in dist/: make release VERSION=1.2.3 REPO=example.org/you/claude-mem
	.ci/release "$(VERSION)" "$(REPO)"

clean:
	rm -rf bin dist
