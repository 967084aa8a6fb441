package offline

import "strings"

// commandKind says what a part of a command line is for.
type commandKind int

const (
	// kindNoise looks or prints and changes nothing.
	kindNoise commandKind = iota
	// The checks: their success or failure says something about the work.
	kindTest
	kindBuild
	kindLint
	kindRun
	kindOther // a program that we do not know
	// kindInline is a throw-away program on the command line: an experiment.
	kindInline
	// What changes something.
	kindFormat
	kindInstall
	kindCommit
	kindGit
	kindMove
	kindDelete
	kindWrite
)

// isCheck reports whether the kind's exit status tells about the work.
func (k commandKind) isCheck() bool { return kindTest <= k && k <= kindOther }

// isMeasure reports whether such a check proves a change: a test, a build, a linter.
func (k commandKind) isMeasure() bool { return kindTest <= k && k <= kindLint }

var noisePrograms = set(`ls cat head tail less more wc grep rg ag egrep fgrep find fd fdfind tree pwd echo printf which whereis type
	test [ [[ true false : sleep date printenv whoami id uname hostname stat file du df sort uniq cut awk gawk tr diff cmp comm jq yq
	xargs basename dirname realpath readlink history man ps top htop kill pkill export unset source . set pushd popd shopt alias nl od
	hexdump xxd md5sum sha256sum sha1sum shasum cksum strings seq yes read exit return wait trap mktemp ulimit umask locale locale-gen
	column bat eza exa cal clear fi done esac for case select function local declare eval break continue nproc free lsof ss netstat
	lscpu getent groups dpkg rpm apt-cache command hash jobs fg bg mkdir touch tput stty base64 gh glab open xdg-open code`)

var formatters = set(`gofmt gofumpt goimports prettier black isort rustfmt clang-format shfmt`)

var linters = set(`golangci-lint staticcheck eslint oxlint ruff flake8 pylint mypy pyright shellcheck hadolint stylelint rubocop tflint markdownlint yamllint biome tsc vue-tsc revive errcheck ktlint checkstyle`)

var testRunners = map[string]string{
	"pytest": "py", "py.test": "py", "tox": "py", "nox": "py", "unittest": "py", "jest": "js", "vitest": "js", "mocha": "js", "ava": "js",
	"playwright": "js", "cypress": "js", "tap": "js", "karma": "js", "gotestsum": "go", "rspec": "rb", "phpunit": "php", "pest": "php",
	"ctest": "c", "bats": "sh",
}

var langOfLinter = map[string]string{
	"golangci-lint": "go", "staticcheck": "go", "revive": "go", "errcheck": "go", "eslint": "js", "oxlint": "js", "biome": "js",
	"tsc": "js", "vue-tsc": "js", "stylelint": "js", "ruff": "py", "flake8": "py", "pylint": "py", "mypy": "py", "pyright": "py",
	"shellcheck": "sh", "rubocop": "rb",
}

// set makes a set of the words in text.
func set(text string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(text) {
		m[w] = true
	}
	return m
}

// classify fills in what a part is for, whose tool it is, what it works on, and
// how people would write it.
func classify(p *part) {
	p.kind = kindNoise
	if len(p.words) == 0 { // only a redirection
		if len(p.writes) > 0 {
			p.kind = kindWrite
		}
		return
	}
	p.kind, p.lang = kindOf(p)
	if p.kind == kindNoise && len(p.writes) > 0 {
		p.kind = kindWrite
	}
	p.targets, p.filter = targetsOf(p)
	p.text = textOf(p)
}

func kindOf(p *part) (commandKind, string) {
	w := p.words
	program, sub := baseName(w[0]), ""
	if len(w) > 1 {
		sub = w[1]
	}
	has := func(options ...string) bool {
		for _, x := range w[1:] {
			for _, o := range options {
				if x == o {
					return true
				}
			}
		}
		return false
	}
	if lang, ok := testRunners[program]; ok {
		return kindTest, lang
	}
	if linters[program] {
		if program == "ruff" && sub == "format" && !has("--check") {
			return kindFormat, "py"
		}
		return kindLint, langOfLinter[program]
	}
	if formatters[program] {
		switch {
		case has("--check", "-l", "-d", "--diff", "--list-different", "-c"):
			return kindNoise, "" // lists what it would do; its status is rarely the point
		default:
			return kindFormat, ""
		}
	}
	switch program {
	case "go":
		switch sub {
		case "test":
			return kindTest, "go"
		case "build", "install":
			return kindBuild, "go"
		case "vet":
			return kindLint, "go"
		case "run":
			return kindRun, "go"
		case "get":
			return kindInstall, "go"
		case "mod":
			return kindInstall, "go"
		case "fmt", "fix", "generate":
			return kindFormat, "go"
		}
		return kindNoise, "go"
	case "python", "python3", "py", "python2":
		if m := after(w, "-m"); m != "" {
			inner := part{words: append([]string{m}, w[indexOf(w, m)+1:]...)}
			if k, _ := kindOf(&inner); k != kindOther && k != kindNoise {
				return k, "py"
			}
			return kindRun, "py"
		}
		if has("-c", "-") || len(w) == 1 {
			return kindInline, "py"
		}
		if sub == "--version" || sub == "-V" {
			return kindNoise, "py"
		}
		return scriptKind(firstTarget(w)), "py"
	case "node", "deno", "ts-node", "tsx":
		switch {
		case sub == "--test" || has("--test") || program == "deno" && sub == "test":
			return kindTest, "js"
		case has("-e", "-p", "--eval", "--print", "-") || len(w) == 1 || sub == "eval":
			return kindInline, "js"
		case sub == "--version" || sub == "-v":
			return kindNoise, "js"
		case program == "deno" && (sub == "lint" || sub == "check"):
			return kindLint, "js"
		case program == "deno" && sub == "fmt":
			return kindFormat, "js"
		}
		return scriptKind(firstTarget(w)), "js"
	case "npm", "yarn", "pnpm", "bun":
		return packageScript(program, w), "js"
	case "cargo":
		switch sub {
		case "test", "nextest", "t":
			return kindTest, "rs"
		case "build", "check", "b", "c":
			return kindBuild, "rs"
		case "clippy":
			return kindLint, "rs"
		case "fmt":
			return kindFormat, "rs"
		case "run", "r":
			return kindRun, "rs"
		case "add", "remove", "rm", "update", "install":
			return kindInstall, "rs"
		}
		return kindNoise, "rs"
	case "mvn", "mvnw", "gradle", "gradlew":
		for _, x := range w[1:] {
			x = x[strings.LastIndexByte(x, ':')+1:]
			switch x {
			case "test", "verify", "check", "integrationTest", "connectedCheck":
				return kindTest, "java"
			case "checkstyleMain", "spotlessCheck", "lint", "detekt", "ktlintCheck":
				return kindLint, "java"
			case "run", "bootRun":
				return kindRun, "java"
			}
		}
		return kindBuild, "java"
	case "javac", "kotlinc":
		return kindBuild, "java"
	case "java", "kotlin", "jbang":
		return kindRun, "java"
	case "make", "gmake", "just", "task", "rake", "mage":
		for _, x := range w[1:] {
			switch {
			case strings.HasPrefix(x, "-") || isAssignment(x):
			case strings.Contains(x, "test") || x == "check" || x == "spec" || x == "race":
				return kindTest, ""
			case strings.Contains(x, "lint") || x == "vet" || strings.Contains(x, "typecheck"):
				return kindLint, ""
			case strings.Contains(x, "fmt") || x == "format":
				return kindFormat, ""
			case strings.Contains(x, "run") || strings.Contains(x, "demo") || x == "dev" || x == "serve":
				return kindRun, ""
			}
		}
		return kindBuild, ""
	case "gcc", "g++", "cc", "clang", "clang++", "cmake", "ninja", "meson", "bazel", "swiftc", "rustc", "zig", "webpack", "vite", "rollup", "esbuild", "next", "nuxt", "astro":
		if sub == "test" {
			return kindTest, ""
		}
		return kindBuild, ""
	case "dotnet", "swift", "mix", "rails", "flutter", "dart", "elixir", "artisan":
		switch sub {
		case "test":
			return kindTest, ""
		case "build", "compile":
			return kindBuild, ""
		case "run":
			return kindRun, ""
		case "add", "deps.get":
			return kindInstall, ""
		case "format":
			return kindFormat, ""
		}
		return kindOther, ""
	case "pip", "pip3", "uv", "poetry", "pipenv", "pdm", "conda", "mamba", "gem", "bundle", "composer", "apt", "apt-get", "brew", "dnf", "yum", "apk", "pacman", "choco", "winget", "asdf", "mise", "rustup", "nvm":
		switch sub {
		case "list", "show", "info", "search", "--version", "freeze", "outdated", "tree", "version":
			return kindNoise, ""
		}
		return kindInstall, ""
	case "docker", "docker-compose", "podman", "kubectl", "helm", "terraform", "ansible-playbook", "psql", "sqlite3", "mysql", "redis-cli":
		switch sub {
		case "ps", "logs", "images", "get", "describe", "inspect", "version", "info", "top", "stats", "plan", "show", "list":
			return kindNoise, ""
		case "build":
			return kindBuild, ""
		}
		return kindOther, ""
	case "curl", "wget", "http", "httpie", "nc", "ping", "dig", "nslookup", "ssh", "scp", "rsync":
		return kindNoise, ""
	case "git":
		return gitKind(w), ""
	case "mv", "rename":
		return kindMove, ""
	case "rm", "rmdir", "unlink":
		return kindDelete, ""
	case "cp", "ln", "chmod", "patch", "install", "truncate", "dd":
		return kindWrite, ""
	case "tee":
		return kindWrite, ""
	case "sed", "perl", "gsed", "ruby":
		for _, x := range w[1:] {
			if strings.HasPrefix(x, "-") && !strings.HasPrefix(x, "--") && strings.Contains(x, "i") && program != "ruby" || x == "--in-place" {
				return kindWrite, ""
			}
		}
		if program == "ruby" {
			if has("-e") {
				return kindInline, "rb"
			}
			return scriptKind(firstTarget(w)), "rb"
		}
		return kindNoise, ""
	case "bash", "sh", "zsh", "dash", "pwsh", "powershell":
		return scriptKind(firstTarget(w)), "sh"
	case "claude-mem":
		return kindNoise, ""
	}
	if noisePrograms[program] {
		return kindNoise, ""
	}
	if !isProgramName(w[0]) {
		return kindNoise, ""
	}
	if strings.Contains(w[0], "/") || strings.HasSuffix(program, ".sh") {
		return scriptKind(w[0]), ""
	}
	return kindOther, ""
}

// isProgramName tells a program's name from what a parser without a shell's full
// grammar takes for one.
func isProgramName(w string) bool {
	for i := 0; i < len(w); i++ {
		if !isIdent(w[i]) && strings.IndexByte("./-+~:\\", w[i]) < 0 {
			return false
		}
	}
	return w != "" && !isDigit(w[0]) && w[0] != '-'
}

// scriptKind guesses by its name what a project's own script is for.
func scriptKind(script string) commandKind {
	name := lower(baseName(script))
	switch {
	case strings.Contains(name, "test") || strings.Contains(name, "check") || strings.Contains(name, "verify") || strings.Contains(name, "spec"):
		return kindTest
	case strings.Contains(name, "lint"):
		return kindLint
	case strings.Contains(name, "build") || strings.Contains(name, "compile"):
		return kindBuild
	}
	if strings.HasPrefix(slashed(script), "/tmp/") {
		return kindInline
	}
	return kindRun
}

// packageScript classifies npm and its kin.
func packageScript(program string, w []string) commandKind {
	sub := ""
	for i := 1; i < len(w); i++ {
		if w[i] == "--prefix" || w[i] == "-C" || w[i] == "--filter" || w[i] == "-w" || w[i] == "--workspace" || w[i] == "--cwd" {
			i++
			continue
		}
		if strings.HasPrefix(w[i], "-") {
			continue
		}
		if w[i] == "run" || w[i] == "run-script" || w[i] == "workspace" {
			continue
		}
		sub = w[i]
		break
	}
	switch sub {
	case "":
		if program == "npm" || program == "bun" {
			return kindNoise
		}
		return kindInstall // a bare `yarn` or `pnpm` installs
	case "t", "tst":
		return kindTest
	case "install", "i", "ci", "add", "remove", "uninstall", "rm", "un", "update", "upgrade", "up", "link", "dedupe", "audit":
		return kindInstall
	case "ls", "list", "view", "info", "outdated", "why", "explain", "config", "version", "whoami", "search", "pack", "help", "root", "bin", "init":
		return kindNoise
	case "start", "dev", "serve", "preview":
		return kindRun
	}
	switch {
	case strings.Contains(sub, "test") || strings.Contains(sub, "e2e") || strings.Contains(sub, "spec") || sub == "check":
		return kindTest
	case strings.Contains(sub, "lint") || strings.Contains(sub, "type") || sub == "tsc":
		return kindLint
	case strings.Contains(sub, "build") || strings.Contains(sub, "compile") || strings.Contains(sub, "bundle"):
		return kindBuild
	case strings.Contains(sub, "format") || strings.Contains(sub, "prettier") || sub == "fmt":
		return kindFormat
	}
	if program == "bun" && strings.Contains(sub, ".") {
		return scriptKind(sub)
	}
	return kindRun
}

func gitKind(w []string) commandKind {
	switch gitVerb(w) {
	case "commit":
		return kindCommit
	case "mv":
		return kindMove
	case "rm":
		return kindDelete
	case "apply", "am":
		return kindWrite
	case "merge", "rebase", "cherry-pick", "revert", "tag", "push", "pull", "checkout", "switch", "restore", "reset", "stash", "clean", "worktree", "init", "clone":
		return kindGit
	}
	return kindNoise
}

// gitVerb is the subcommand of a git call, behind `-C dir` and `-c key=value`.
func gitVerb(w []string) string {
	for i := 1; i < len(w); i++ {
		switch {
		case w[i] == "-C" || w[i] == "-c":
			i++
		case strings.HasPrefix(w[i], "-"):
		default:
			return w[i]
		}
	}
	return ""
}

func after(w []string, option string) string {
	if i := indexOf(w, option); i >= 0 && i+1 < len(w) {
		return w[i+1]
	}
	return ""
}

func indexOf(w []string, x string) int {
	for i := range w {
		if w[i] == x {
			return i
		}
	}
	return -1
}

func firstTarget(w []string) string {
	for _, x := range w[1:] {
		if !strings.HasPrefix(x, "-") {
			return x
		}
	}
	return ""
}
