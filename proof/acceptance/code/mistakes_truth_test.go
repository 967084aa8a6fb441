//go:build unix

package code

import "testing"

// The tests named TestMistake… are the kinds of false or lost memories that were once found
// in sessions with the offline distiller, each in wordings, languages and tools of its own.

const ledgerRust = `use std::collections::HashMap;

pub struct Ledger {
    rows: HashMap<u64, i64>,
}

impl Ledger {
    pub fn post(&mut self, account: u64, cents: i64) {
        *self.rows.entry(account).or_insert(0) += cents;
    }

    pub fn balance(&self, account: u64) -> i64 {
        self.rows.get(&account).copied().unwrap_or(0)
    }
}
`

const tillRuby = `class Till
  def initialize
    @lines = []
  end

  def add(cents)
    @lines << cents
  end

  def total
    @lines.sum
  end
end
`

// lasting matches what tells a failure as one that is still there.
const lasting = `still fails|still failing|\bfails: |” fails|` + "` fails"

// TestMistakeRevertByCommand: a revert by a command of git is told, with its reason, and the
// work that it took back is not told as present.
func TestMistakeRevertByCommand(t *testing.T) {
	work := func(s *script, prompt, subject, message string) {
		s.have(map[string]string{"src/ledger.rs": ledgerRust})
		s.ask(prompt)
		s.edit("src/ledger.rs", "copied().unwrap_or(0)", "copied().unwrap_or_default()")
		s.edit("src/ledger.rs", "    rows: HashMap<u64, i64>,\n", "    rows: HashMap<u64, i64>,\n    cache: Vec<i64>,\n")
		s.run("cargo test", "test result: ok. 14 passed; 0 failed; 0 ignored")
		s.runGit("commit -qam '" + subject + "'")
		s.say(message)
	}
	playAll(t, []play{
		{name: "in the next session", act: func(s *script) {
			work(s, "cache the balances, post is called a million times a night", "Cache balances in the ledger", "`Ledger` keeps a `cache` of the balances now, so that the nightly run does not look them up again.")
			s.nextSession()
			s.ask("since yesterday's deploy two customers see stale balances. Take the cache out again")
			s.runGit("revert --no-edit HEAD")
			s.run("cargo test", "test result: ok. 14 passed; 0 failed; 0 ignored")
			s.say("Reverted. The cache was never invalidated by `post`, so a balance stayed what it was at the first look.")
		}, stored: []string{`revert.*cache balances`, `never invalidated`}, shown: []string{`revert`, `stale|never invalidated|reverted later`}},
		{name: "in the same session, in German", act: func(s *script) {
			work(s, "Halte die Salden in einem Cache", "Salden zwischenspeichern", "Die Salden liegen jetzt in `cache`.")
			s.ask("Das war keine gute Idee, der Speicher läuft voll. Mach den Commit rückgängig.")
			s.runGit("revert --no-edit HEAD")
			s.say("Zurückgenommen: der Cache wächst mit jedem Konto und wird nie kleiner.")
		}, stored: []string{`revert.*salden zwischenspeichern`, `wächst mit jedem konto`}},
		{name: "an older commit by its hash, with a message of its own", act: func(s *script) {
			work(s, "cache the balances", "Cache balances in the ledger", "`Ledger` keeps a `cache` of the balances now.")
			s.git("commit -q --allow-empty -m 'Bump version'")
			s.ask("back out the cache, finance wants exact numbers at any time")
			s.runGit("revert --no-commit HEAD~1")
			s.runGit("commit -qm 'Back out the balance cache' -m 'Finance needs exact numbers at any time.'")
			s.say("The cache is out again: finance needs exact numbers at any time.")
		}, stored: []string{`(revert|back(ed)? out).*cache`, `exact numbers at any time`}},
	})
}

// TestMistakeCure: what made a failure go away is what the command has more, or what
// happened between its last failure and the pass; not what was tried before.
func TestMistakeCure(t *testing.T) {
	const noLibrary = "error: linking with `cc` failed: exit status: 1\n  = note: /usr/bin/ld: cannot find -lsodium"
	const noGem = "An error occurred while loading ./spec/till_spec.rb.\nLoadError:\n  cannot load such file -- ffi"
	playAll(t, []play{
		{name: "an environment variable after two tries that did not help", act: func(s *script) {
			s.have(map[string]string{"src/ledger.rs": ledgerRust})
			s.ask("get the tests to run on this laptop")
			s.fail("cargo test", 101, noLibrary)
			s.run("sudo apt-get install -y libsodium-dev", "Setting up libsodium-dev (1.0.18-1build2) ...")
			s.fail("cargo test", 101, noLibrary)
			s.run("cargo clean", "     Removed 812 files, 301.2MiB total")
			s.fail("cargo test", 101, noLibrary)
			s.run("SODIUM_USE_PKG_CONFIG=1 cargo test", "test result: ok. 14 passed; 0 failed; 0 ignored")
			s.say("They run with `SODIUM_USE_PKG_CONFIG=1`; without it the build script looks for a static library that Ubuntu does not ship.")
		}, stored: []string{"needs `SODIUM_USE_PKG_CONFIG=1`"}, refused: []string{`(needs?|needed|after)[^.]{0,20}(install|cargo clean|libsodium-dev)`, lasting}, shown: []string{`SODIUM_USE_PKG_CONFIG`}},
		{name: "a build tag of Maven", act: func(s *script) {
			s.have(map[string]string{"pom.xml": "<project/>\n"})
			s.ask("build the module")
			s.fail("mvn -q verify", 1, "[ERROR] Failed to execute goal on project till: Could not resolve dependencies: com.oracle:ojdbc8:jar:19.3")
			s.run("mvn -q dependency:purge-local-repository", "")
			s.fail("mvn -q verify", 1, "[ERROR] Failed to execute goal on project till: Could not resolve dependencies: com.oracle:ojdbc8:jar:19.3")
			s.run("mvn -q verify -Pno-oracle", "")
			s.say("Outside the office network you need the profile: `mvn -q verify -Pno-oracle`.")
		}, stored: []string{"needs `-Pno-oracle`"}, refused: []string{`(needs?|needed|after)[^.]{0,20}purge`, lasting}, shown: []string{`-Pno-oracle`}},
		{name: "an export before the command, in Spanish", act: func(s *script) {
			s.have(map[string]string{"lib/till.rb": tillRuby})
			s.ask("ejecuta las pruebas")
			s.fail("bundle exec rspec", 1, noGem)
			s.run("gem install ffi", "Successfully installed ffi-1.16.3")
			s.fail("bundle exec rspec", 1, noGem)
			s.run("export BUNDLE_WITH=native && bundle exec rspec", "21 examples, 0 failures")
			s.say("Pasan con `BUNDLE_WITH=native`: el grupo `native` del Gemfile es opcional.")
		}, stored: []string{"needs `BUNDLE_WITH=native`"}, refused: []string{`(needs?|needed|after)[^.]{0,20}(gem install|installed ffi)`, lasting}},
		{name: "a cure that a later failure contradicts", act: func(s *script) {
			s.have(map[string]string{"lib/till.rb": tillRuby})
			s.ask("the suite is red now and then, look at it")
			s.fail("bundle exec rspec", 1, "  1) Till sums\n     Failure/Error: expect(till.total).to eq 3\n21 examples, 1 failure\nrspec ./spec/till_spec.rb:9 # Till sums")
			s.run("bundle install", "Bundle complete! 14 Gemfile dependencies, 61 gems now installed.")
			s.run("bundle exec rspec", "21 examples, 0 failures")
			s.fail("bundle exec rspec", 1, "  1) Till sums\n     Failure/Error: expect(till.total).to eq 3\n21 examples, 1 failure\nrspec ./spec/till_spec.rb:9 # Till sums")
			s.say("It comes and goes, I have no cause yet.")
		}, refused: []string{`(needs?|needed|after|cured)[^.]{0,20}bundle install`, `passes (now|after)`}},
	})
}

// TestMistakeUndoneAttempt: an attempt that was taken back keeps no failure; what stays is
// that it was tried, and why it was given up.
func TestMistakeUndoneAttempt(t *testing.T) {
	const broken = "error[E0277]: the trait bound `Ledger: Sync` is not satisfied\n --> src/ledger.rs:4:5"
	attempt := func(s *script) {
		s.have(map[string]string{"src/ledger.rs": ledgerRust})
		s.ask("try an Rc<RefCell> for the rows, maybe it saves the clones")
		s.edit("src/ledger.rs", "rows: HashMap<u64, i64>", "rows: Rc<RefCell<HashMap<u64, i64>>>")
		s.fail("cargo build", 101, broken)
	}
	const why = "I put it back: `Ledger` is shared between threads, and an `Rc` is not `Sync`."
	givenUp := []string{`(tried|given up|taken back|abandoned).*(rc|rows)`, `not .Sync`}
	refused := []string{lasting, `rows: Rc<RefCell.*(is|are) (used|in use) now`}
	playAll(t, []play{
		{name: "git checkout --", act: func(s *script) { attempt(s); s.runGit("checkout -- src/ledger.rs"); s.say(why) }, stored: givenUp, refused: refused, shown: []string{`Rc`}},
		{name: "git restore", act: func(s *script) { attempt(s); s.runGit("restore src"); s.say(why) }, stored: givenUp, refused: refused},
		{name: "git reset --hard, then a passing run", act: func(s *script) {
			attempt(s)
			s.runGit("reset --hard")
			s.run("cargo build && cargo test", "    Finished `dev` profile\ntest result: ok. 14 passed; 0 failed; 0 ignored")
			s.say(why)
		}, stored: givenUp, refused: refused},
		{name: "git stash drop", act: func(s *script) {
			attempt(s)
			s.runGit("stash")
			s.runGit("stash drop")
			s.say(why)
		}, stored: givenUp, refused: refused},
		{name: "by hand", act: func(s *script) {
			attempt(s)
			s.edit("src/ledger.rs", "rows: Rc<RefCell<HashMap<u64, i64>>>", "rows: HashMap<u64, i64>")
			s.say(why)
		}, stored: givenUp, refused: refused},
		{name: "in Spanish, in Ruby", act: func(s *script) {
			s.have(map[string]string{"lib/till.rb": tillRuby})
			s.ask("prueba a guardar los importes como Rational")
			s.edit("lib/till.rb", "@lines << cents", "@lines << Rational(cents, 100)")
			s.fail("bundle exec rspec", 1, "  1) Till sums\n     Failure/Error: expect(till.total).to eq 3\n       expected: 3\n            got: (3/100)\n21 examples, 1 failure\nrspec ./spec/till_spec.rb:9 # Till sums")
			s.runGit("checkout lib/till.rb")
			s.say("Lo he deshecho: el API devuelve céntimos enteros y `Rational` los cambiaría para todos los clientes.")
		}, stored: []string{`c[ée]ntimos enteros|cambiar[íi]a para todos`}, refused: []string{lasting}},
	})
}

// TestMistakeHalfDoneAtACompaction: a failure in the midst of a turn says nothing about how
// the turn ends.
func TestMistakeHalfDoneAtACompaction(t *testing.T) {
	const red = "Till sums\n     Failure/Error: expect(till.total).to eq 3\n21 examples, 1 failure\nrspec ./spec/till_spec.rb:9 # Till sums"
	playAll(t, []play{
		{name: "it goes on and ends well", act: func(s *script) {
			s.have(map[string]string{"lib/till.rb": tillRuby})
			s.ask("let the till count in cents of the currency")
			s.edit("lib/till.rb", "@lines << cents", "@lines << cents.to_i")
			s.fail("bundle exec rspec", 1, red)
			s.compact()
			s.edit("lib/till.rb", "@lines.sum", "@lines.sum(0)")
			s.run("bundle exec rspec", "21 examples, 0 failures")
			s.say("`Till` counts whole cents; `add` converts, because importers hand in strings.")
		}, stored: []string{`importers hand in strings`}, refused: []string{lasting}},
		{name: "the session breaks off behind it", act: func(s *script) {
			s.have(map[string]string{"src/ledger.rs": ledgerRust})
			s.ask("store the balances as i128")
			s.edit("src/ledger.rs", "rows: HashMap<u64, i64>", "rows: HashMap<u64, i128>")
			s.fail("cargo check", 101, "error[E0308]: mismatched types\n --> src/ledger.rs:9:55")
			s.compact()
		}, refused: []string{lasting}},
	})
}

// TestMistakeExpectedFailure: a command that has to fail is not told as failing.
func TestMistakeExpectedFailure(t *testing.T) {
	const red = "1) Till refuses a negative amount\n     Failure/Error: expect { till.add(-1) }.to raise_error(ArgumentError)\n22 examples, 1 failure\nrspec ./spec/till_spec.rb:15 # Till refuses a negative amount"
	playAll(t, []play{
		{name: "a test that shall be red first", act: func(s *script) {
			s.have(map[string]string{"lib/till.rb": tillRuby, "spec/till_spec.rb": "describe Till do\nend\n"})
			s.ask("Write the failing spec for negative amounts first, I will do the code myself.")
			s.edit("spec/till_spec.rb", "describe Till do\n", "describe Till do\n  it 'refuses a negative amount' do\n    expect { till.add(-1) }.to raise_error(ArgumentError)\n  end\n")
			s.fail("bundle exec rspec", 1, red)
			s.say("The spec is in `till_spec.rb`: `add` takes negative amounts today.")
		}, refused: []string{`still fails|still failing`}},
		{name: "in German", act: func(s *script) {
			s.have(map[string]string{"lib/till.rb": tillRuby, "spec/till_spec.rb": "describe Till do\nend\n"})
			s.ask("Schreib erst die Spec für negative Beträge, sie muss rot sein.")
			s.edit("spec/till_spec.rb", "describe Till do\n", "describe Till do\n  it 'refuses a negative amount' do\n    expect { till.add(-1) }.to raise_error(ArgumentError)\n  end\n")
			s.fail("bundle exec rspec", 1, red)
			s.say("Die Spec steht in `till_spec.rb` und ist rot, wie gewünscht.")
		}, refused: []string{`still fails|still failing`}},
		{name: "a linter that has to complain", act: func(s *script) {
			s.have(map[string]string{"lib/till.rb": tillRuby, ".rubocop.yml": "AllCops:\n  NewCops: enable\n"})
			s.ask("forbid puts in lib by a cop, and check that rubocop rejects one")
			s.edit(".rubocop.yml", "  NewCops: enable\n", "  NewCops: enable\nRails/Output:\n  Include: [lib/**/*]\n")
			s.create("lib/probe.rb", "puts 1\n")
			s.fail("bundle exec rubocop lib/probe.rb", 1, "lib/probe.rb:1:1: C: Rails/Output: Do not write to stdout.\n1 file inspected, 1 offense detected")
			s.run("rm lib/probe.rb", "")
			s.must("rm", "lib/probe.rb")
			s.say("`puts` in `lib` is an offense now; a probe file was rejected with `Rails/Output`, I deleted it again.")
		}, stored: []string{`Rails/Output`}, refused: []string{lasting, `(add|new|creat)\w* [^.]{0,20}probe\.rb`}},
	})
}

// TestMistakeScratchDirectory: a package that is added in a scratch directory is no
// dependency of the project.
func TestMistakeScratchDirectory(t *testing.T) {
	playAll(t, []play{
		{name: "cargo add in a temporary crate", act: func(s *script) {
			s.have(map[string]string{"README.md": "# ledger\n\n    cargo add ledgr\n"})
			s.ask("the readme's first example does not work, try it and correct it")
			s.run("cd $(mktemp -d) && cargo init -q demo && cd demo && cargo add ledger-core", "      Adding ledger-core v0.9.2 to dependencies")
			s.edit("README.md", "cargo add ledgr", "cargo add ledger-core")
			s.say("The crate is called `ledger-core`, not `ledgr`; the readme says so now.")
		}, stored: []string{`ledger-core`}, refused: []string{`added dependency|dependency ledger-core`}},
		{name: "npm install under /tmp", act: func(s *script) {
			s.have(map[string]string{"docs/start.md": "npm i till\n"})
			s.ask("check the install command in docs/start.md")
			s.run("mkdir -p /tmp/try && cd /tmp/try && npm init -y >/dev/null && npm install @shop/till", "added 3 packages in 2s")
			s.edit("docs/start.md", "npm i till", "npm i @shop/till")
			s.say("The package lives in the scope `@shop`, so `npm i till` fetched somebody else's package.")
		}, stored: []string{`@shop`}, refused: []string{`added dependency`}},
		{name: "pip in another virtual environment", act: func(s *script) {
			s.have(map[string]string{"README.md": "pip install till\n"})
			s.ask("does the quick start work?")
			s.run("python3 -m venv /tmp/v && /tmp/v/bin/pip install shop-till && /tmp/v/bin/python -c 'import till'", "Successfully installed shop-till-2.1.0")
			s.say("Yes, with `shop-till`; the name `till` is taken by another project on the index.")
		}, refused: []string{`added dependency`}},
	})
}

// TestMistakeRangedReading: a reading of a piece of a file says nothing about the functions
// outside it, and what an edit changed is named after the function that it is in.
func TestMistakeRangedReading(t *testing.T) {
	playAll(t, []play{
		{name: "the last function of the piece is not what changed", act: func(s *script) {
			s.have(map[string]string{"src/ledger.rs": ledgerRust})
			s.ask("a balance of an unknown account should be an error")
			s.view("src/ledger.rs", 1, 9)
			s.edit("src/ledger.rs", "-> i64 {\n        self.rows.get(&account).copied().unwrap_or(0)", "-> Option<i64> {\n        self.rows.get(&account).copied()")
			s.run("cargo test", "test result: ok. 14 passed; 0 failed; 0 ignored")
			s.say("Unknown accounts are `None` now.")
		}, stored: []string{`Ledger::balance`}, refused: []string{`(chang|modif|edit)[^.]{0,30}\bpost\b`}},
		{name: "only read", act: func(s *script) {
			s.have(map[string]string{"lib/till.rb": tillRuby})
			s.ask("where is the total computed?")
			s.view("lib/till.rb", 6, 4)
			s.say("In `Till#total` of lib/till.rb: it sums `@lines`, because amounts are appended by `add` and never merged.")
		}, stored: []string{`Till#total`}, refused: []string{`(add|chang|modif|edit)(ed|s)? [^.]{0,20}\b(initialize|Till.add)\b`}},
	})
}
