//go:build unix

package wild

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"
)

// form is a form of a kind of fault that is not the reported one.
type form struct {
	kind, name string
	// want is what a memory has of the sessions (state).
	want string
	// heard are told to hooks and stored, and must give the same both ways; stored are only stored: no hook
	// is told of them, or only an import can go wrong.
	heard, stored []*session
	// before are told to hooks of the memory into which the others are imported.
	before []*session
	// files are other files below the home directory, by their paths.
	files map[string]string
	// Then the sessions of forget are forgotten, with remove their files deleted, and later is stored and imported.
	forget []string
	remove bool
	later  []*session
	// check is asked of each memory.
	check func(u *user)
	// play is all that a form does which has no sessions, on a memory that such forms share.
	play func(u *user)
}

const (
	heron = "TENANT=blue-heron-77" // must be in no record
	typed = "Rename the total column"
)

// once is a turn with a prompt, an edit of cart.go and an answer.
func once(s *session, prompt string, stored ...any) []*session {
	return []*session{s.asks(prompt, stored...).edits("cart.go").settles("column")}
}

func blocks(texts ...string) (list []any) {
	for _, text := range texts {
		list = append(list, object{"type": "text", "text": text})
	}
	return list
}

// forked returns another session that begins with the lines of s. With marks it has ids of its own, and
// says of each line what it has copied.
func (s *session) forked(id string, marked bool) *session {
	fork := &session{host: s.host, id: id, dir: s.dir, turn: s.turn, calls: 100}
	for _, line := range s.lines {
		var record object
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			panic(err)
		}
		if record["sessionId"] = id; marked {
			record["forkedFrom"] = object{"sessionId": s.id, "messageUuid": record["uuid"]}
			record["uuid"] = fmt.Sprint(id, "-", record["uuid"])
		}
		fork.lines = append(fork.lines, encode(record))
	}
	return fork
}

// forkOfCodex returns the fork of a session, which begins with the other's first record and turns.
func forkOfCodex(s *session, id string) *session {
	return &session{host: s.host, id: id, dir: s.dir, turn: s.turn, calls: 100, from: s.id, lines: append([]string{s.meta()}, s.lines...)}
}

// The lines of a transcript, torn.
func joined(lines []string) []string {
	return append([]string{lines[0] + lines[1]}, lines[2:]...)
}

func behindNULs(lines []string) []string {
	lines[0] = strings.Repeat("\x00", 400) + lines[0]
	return lines
}

func behindPiece(lines []string) []string {
	lines[len(lines)-1] = lines[0][:len(lines[0])*2/3] + lines[len(lines)-1]
	return lines
}

// reordered has the members of each record in another order, in which cwd is the first one.
func reordered(lines []string) []string {
	for i, line := range lines {
		var record object
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			panic(err)
		}
		cwd := record["cwd"]
		delete(record, "cwd")
		lines[i] = `{"cwd":` + encode(cwd) + "," + encode(record)[1:]
	}
	return lines
}

// agentFile is the transcript of a subagent of a session: its prompt, a call and its answer.
func agentFile(session, agent, prompt, answer string) string {
	s := claude(session).after(10 * time.Second)
	s.turn = 1
	record := func(kind string, members object) {
		maps.Copy(members, object{"type": kind, "isSidechain": true, "agentId": agent, "uuid": fmt.Sprint(agent, len(s.lines))})
		s.line(members)
	}
	record("user", object{"message": object{"role": "user", "content": prompt}})
	record("assistant", object{"message": object{"role": "assistant", "stop_reason": "tool_use", "content": []any{object{"type": "tool_use", "id": agent + "-t", "name": "Bash", "input": object{"command": "ls " + agent}}}}})
	record("user", object{"message": object{"role": "user", "content": []any{object{"type": "tool_result", "tool_use_id": agent + "-t", "content": "a.go"}}}})
	record("assistant", object{"message": object{"role": "assistant", "stop_reason": "end_turn", "content": []any{object{"type": "text", "text": answer}}}})
	return strings.Join(s.lines, "\n") + "\n"
}

// helped adds what hooks are told of an agent: a call and its end.
func (s *session) helped(agent, kind, answer string) *session {
	s.hook("save", "PostToolUse", object{"prompt_id": s.promptID(), "agent_id": agent, "agent_type": kind, "tool_name": "Bash", "tool_use_id": agent + "-t", "tool_input": object{"command": "ls " + agent}, "tool_response": object{"stdout": "a.go"}})
	return s.hook("summary", "SubagentStop", object{"prompt_id": s.promptID(), "agent_id": agent, "agent_type": kind, "last_assistant_message": answer})
}

// projects returns the folder of a session of Claude Code.
func projects(id string) string { return ".claude/projects/-shop-" + id + "/" }

const (
	oneTurn  = "asked: " + typed + "|record of shop: cart.go|1 calls, 1 ends"
	goesOn   = "asked: " + typed + "|asked: Add a test of it|record of shop: cart.go|record of shop: cart_test.go|2 calls, 2 ends"
	forkOnly = "asked: Try a queue|record of shop: queue.go|1 calls, 1 ends"
)

// forms are at least two of each kind of fault, and the order is that of reported.
func forms() (list []form) {
	add := func(kind, name, want string, f form) {
		f.kind, f.name, f.want = kind, name, want
		list = append(list, f)
	}

	// What an editor puts before a prompt, or an agent behind it.
	add("ide-prompt", "Codex CLI's extension", oneTurn, form{heard: once(codex("ide1"), "# Context from my IDE setup:\n\n## Active file: .env\n\n## Active selection of the file:\n"+heron+"\n## My request for Codex:\nmailto\n\n## Open tabs:\n- .env: .env\n\n## My request for Codex:\n"+typed)})
	add("ide-prompt", "Codex CLI's extension, nothing typed", "record of shop: cart.go|1 calls, 1 ends", form{heard: once(codex("ide2"), "# Context from my IDE setup:\r\n\r\n## Active file: .env\r\n"+heron)})
	add("ide-prompt", "files that Gemini CLI adds, and its hooks' answers", oneTurn, form{heard: once(
		gemini("ide3").line(object{"type": "user", "content": "Here is the user's editor context as a JSON object. This is for your information only.\n```json\n{\"selectedText\": \"" + heron + "\"}\n```"}),
		typed+"\n--- Content from referenced files ---\nContent from @.env:\n"+heron+"\n--- End of content ---",
		[]any{object{"text": typed}, object{"text": "\n--- Content from referenced files ---"}, object{"text": "\nContent from @.env:\n" + heron}, object{"text": "\n--- End of content ---"}, object{"text": "<hook_context>" + heron + "</hook_context>"}})})
	add("ide-prompt", "a selection with line ends of Windows, words in two blocks", "asked: Rename the total\ncolumn|record of shop: cart.go|1 calls, 1 ends", form{heard: once(claude("ide4"),
		"<ide_selection>\r\n"+heron+"\r\n</ide_selection>\r\nRename the total\ncolumn",
		blocks("<ide_selection>\r\n"+heron+"\r\n</ide_selection>", "Rename the total", "column"))})

	// Messages of others in the user's place.
	add("teammate", "two messages, each a block", "record of shop: cart.go|2 calls, 1 ends", form{heard: once(claude("mate1"),
		"<teammate-message color='red' teammate_id=\"bo\">\nThe bank calls it amount.\n</teammate-message>\n<agent-message from=\"eve\">Build is green.</agent-message>",
		blocks("<teammate-message color='red' teammate_id=\"bo\">\nThe bank calls it amount.\n</teammate-message>", "<agent-message from=\"eve\">Build is green.</agent-message>"))})
	add("teammate", "a chat's message with the host's note", "record of shop: cart.go|2 calls, 1 ends", form{heard: once(claude("mate2"),
		"<user-prompt-submit-hook>branch: main</user-prompt-submit-hook>\n<channel source=\"chat\" sender=\"bo\">Heißt sie nicht Betrag?</channel>")})
	add("teammate", "another agent of Codex CLI", oneTurn, form{heard: []*session{codex("mate3").asks(typed).edits("cart.go").
		line(object{"type": "response_item", "payload": object{"type": "message", "role": "user", "content": []any{object{"type": "input_text", "text": "<subagent_notification>{\"agent_path\":\"eve\",\"status\":{\"completed\":\"Green.\"}}</subagent_notification>"}}}}).
		line(object{"type": "inter_agent_communication", "payload": object{"message": "Green."}}).settles("column")}})

	// Copies of another session.
	turn := func(s *session) *session { return s.asks(typed).edits("cart.go").settles("column") }
	base := func(id string) *session { return turn(claude(id)) }
	ofCodex := func(id string) *session { return turn(codex(id)) }
	queue := func(fork *session) *session {
		return fork.asks("Try a queue").edits("queue.go").settles("queue")
	}
	add("fork-forkedFrom", "in the folder of another directory", oneTurn+"|"+forkOnly, form{stored: []*session{base("fm1"), queue(base("fm1").forked("fm1b", true).keptIn("~/west"))}})
	add("fork-forkedFrom", "of Codex CLI", oneTurn+"|"+forkOnly, form{stored: []*session{
		ofCodex("fm2"), queue(forkOfCodex(ofCodex("fm2"), "fm2b"))}})
	add("fork-forkedFrom", "of a fork", oneTurn+"|"+forkOnly+"|asked: Drop it|0 calls, 0 ends", form{stored: []*session{
		base("fm3"), queue(base("fm3").forked("fm3b", true)), queue(base("fm3").forked("fm3b", true)).forked("fm3c", true).asks("Drop it")}})
	add("forgotten-fork", "that keeps ids", forkOnly, form{stored: []*session{base("ff1")}, forget: []string{"ff1"}, later: []*session{queue(base("ff1").forked("ff1b", false))}})
	add("forgotten-fork", "of Codex CLI", forkOnly, form{stored: []*session{ofCodex("ff2")}, forget: []string{"ff2"},
		later: []*session{queue(forkOfCodex(ofCodex("ff2"), "ff2b"))}})
	add("forgotten-fork", "of Codex CLI, the original removed", forkOnly, form{stored: []*session{ofCodex("ff4")}, forget: []string{"ff4"}, remove: true,
		later: []*session{queue(forkOfCodex(ofCodex("ff4"), "ff4b"))}})
	add("forgotten-fork", "of a fork, both forgotten", "asked: Drop it|0 calls, 0 ends", form{stored: []*session{base("ff3"), queue(base("ff3").forked("ff3b", true))}, forget: []string{"ff3", "ff3b"},
		later: []*session{queue(base("ff3").forked("ff3b", true)).forked("ff3c", true).asks("Drop it")}})

	add("forgotten-fork", "of what hooks have captured", forkOnly, form{before: []*session{base("ff5")}, forget: []string{"ff5"}, later: []*session{queue(base("ff5").forked("ff5b", true))}})

	// Torn lines.
	add("torn-lines", "of Codex CLI, two records on a line", oneTurn, form{heard: []*session{turn(codex("torn1")).edit(joined)}})
	add("torn-lines", "of Codex CLI, a piece and NULs before", oneTurn, form{heard: []*session{turn(codex("torn2")).edit(behindPiece).edit(behindNULs)}})
	add("torn-lines", "of Gemini CLI, a piece before", oneTurn, form{heard: []*session{turn(gemini("torn3")).edit(behindPiece)}})
	add("torn-lines", "of Gemini CLI, two on a line behind NULs", oneTurn, form{heard: []*session{turn(gemini("torn4")).edit(joined).edit(behindNULs)}})
	add("torn-lines", "members in another order", oneTurn, form{heard: []*session{turn(claude("torn5")).edit(reordered).edit(behindPiece).edit(joined)}})

	// Copies that only their content tells.
	test := func(s *session) *session {
		return s.asks("Add a test of it").edits("cart_test.go").settles("test")
	}
	drop := func(s *session) *session { return s.asks("Drop it") }
	add("fork-mtime", "three of one history, the original written last", goesOn+"|"+forkOnly+"|asked: Drop it|0 calls, 0 ends", form{stored: []*session{
		test(base("mt1").after(time.Minute)), queue(base("mt1").forked("mt1b", false).after(time.Hour)), drop(base("mt1").forked("mt1c", false).after(2 * time.Hour))}})
	add("fork-mtime", "of Codex CLI, the original written last", goesOn+"|"+forkOnly, form{stored: []*session{test(ofCodex("mt2").after(time.Hour)), queue(forkOfCodex(ofCodex("mt2"), "mt2b"))}})
	add("fork-mtime", "the fork imported first", "asked: "+typed+"|asked: Try a queue|record of shop: cart.go|record of shop: queue.go|2 calls, 2 ends|asked: Add a test of it|record of shop: cart_test.go|1 calls, 1 ends",
		form{stored: []*session{queue(base("mt3").forked("mt3b", false).after(time.Hour))}, later: []*session{test(base("mt3").after(time.Minute))}})

	add("fork-mtime", "the original captured by hooks, and read after the fork", goesOn+"|"+forkOnly, form{before: []*session{test(base("mt4"))},
		stored: []*session{queue(base("mt4").forked("mt4b", false).after(time.Minute)), test(base("mt4").after(time.Hour))}})

	// Prompts without words.
	blank := func(s *session, prompt string, stored ...any) []*session {
		return []*session{s.asks(typed).edits("cart.go").asks(prompt, stored...).settles("column")}
	}
	add("gemini-empty-prompt", "blanks of other scripts and signs without width", oneTurn, form{heard: blank(claude("bl1"), "\u00a0\u3000\u200b\u2060\ufeff\n")})
	add("gemini-empty-prompt", "Codex CLI", oneTurn, form{heard: blank(codex("bl2"), "\r\n\t")})
	add("gemini-empty-prompt", "Gemini CLI, parts without words", oneTurn, form{heard: blank(gemini("bl3"), " \u200e ", []any{object{"text": " "}, object{"text": "\u200e"}})})
	add("gemini-empty-prompt", "an image alone", oneTurn, form{heard: blank(claude("bl4"), "", []any{object{"type": "image", "source": object{"type": "base64", "data": "aGk="}}})})

	// Worktrees that are gone when they are read.
	depot := func(s *session, dir string) []*session { return once(s.in("~/depot/"+dir), typed) }
	const inDepot = "asked: " + typed + "|record of depot: cart.go|1 calls, 1 ends"
	add("gone-worktree", "Gemini CLI's", inDepot, form{heard: depot(gemini("wt1"), ".gemini/worktrees/brave-fox")})
	add("gone-worktree", "begun below its root", strings.ReplaceAll(inDepot, "cart.go", "api/cart.go"), form{heard: depot(claude("wt2"), ".claude/worktrees/calm-owl/api")})
	add("gone-worktree", "Codex CLI in Claude Code's", inDepot, form{heard: depot(codex("wt3"), ".claude/worktrees/calm-owl")})
	add("gone-worktree", "of a share of Windows", strings.ReplaceAll(inDepot, "depot", `\\files\dev\depot`), form{stored: []*session{
		claude("wt4").in(`\\files\dev\depot\.claude\worktrees\calm-owl`).asks(typed).edits(`\\files\dev\depot\.claude\worktrees\calm-owl\cart.go`).settles("column")}})

	// Windows, read elsewhere.
	const billing = `C:\Users\me\src\billing`
	onWindows := strings.NewReplacer("shop: cart.go", billing+": internal/cart.go").Replace(oneTurn)
	windows := func(s *session, dir, file string) []*session {
		return []*session{s.in(dir).asks(typed).in(dir + `\internal`).edits(file).settles("column")}
	}
	add("windows-import", "the drive in a small letter", onWindows, form{stored: windows(claude("wi1"), `c:\Users\me\src\billing`, `C:\Users\me\src\billing\internal\cart.go`)})
	add("windows-import", "slashes as of Unix", onWindows, form{stored: windows(claude("wi2"), "C:/Users/me/src/billing", "c:/users/me/src/Billing/internal/cart.go")})
	add("windows-import", "Codex CLI, a path in a patch", onWindows, form{stored: []*session{codex("wi3").in(`c:\Users\me\src\billing`).asks(typed).edits(`internal\cart.go`).settles("column")}})
	add("windows-import", "a share", strings.ReplaceAll(onWindows, billing, `\\files\dev\billing`), form{stored: windows(claude("wi4"), `\\files\dev\billing`, `\\FILES\dev\billing\internal\cart.go`)})

	// Agents that the host runs for itself.
	helper := func(s *session, agent string) []*session {
		return []*session{s.asks(typed).edits("cart.go").helped(agent, "", heron).settles("column")}
	}
	add("compaction-agent", "beside its session's file", oneTurn, form{heard: helper(claude("ag1"), "acompact-0a1b"), files: map[string]string{projects("ag1") + "agent-acompact-0a1b.jsonl": agentFile("ag1", "acompact-0a1b", "Summarize", heron)}})
	add("compaction-agent", "in a workflow's folder, beside a real one", "asked: "+typed+"|record of shop: cart.go|3 calls, 1 ends", form{
		heard: []*session{claude("ag2").asks(typed).edits("cart.go").helped("asession_memory-77aa", "", heron).helped("a5b6c7", "Explore", "The cart has one column.").after(time.Minute).settles("column")},
		files: map[string]string{
			projects("ag2") + "ag2/subagents/workflows/wf_1/agent-asession_memory-77aa.jsonl": agentFile("ag2", "asession_memory-77aa", "Note", heron),
			projects("ag2") + "ag2/subagents/workflows/wf_1/agent-a5b6c7.jsonl":               agentFile("ag2", "a5b6c7", "Explore", "The cart has one column."),
			projects("ag2") + "ag2/subagents/workflows/wf_1/agent-a5b6c7.meta.json":           `{"agentType":"Explore"}`,
		}})
	add("compaction-agent", "whose session has no file", "", form{heard: []*session{claude("ag3").helped("aside_question-9f", "", heron)}, files: map[string]string{
		projects("ag3") + "ag3/subagents/agent-aside_question-9f.jsonl": agentFile("ag3", "aside_question-9f", "Ask", heron)}})

	// What a host sends before any prompt.
	add("warmup", "in a block, with blanks", "", form{heard: []*session{claude("wu1").asks(" Warmup\n", blocks(" Warmup\n")).ends("Hi! I am ready to work on your shop.")}})
	add("warmup", "before the first prompt", oneTurn, form{heard: once(claude("wu2").asks("Warmup").ends("Hi! I am ready to work on your shop."), typed)})
	add("warmup", "Codex CLI, with a call", "", form{heard: once(codex("wu3"), "Warmup")})
	add("warmup", "for a suggestion", "", form{heard: []*session{claude("wu4").asks("[SUGGESTION MODE: Suggest what the user might naturally type next.]").ends("run the tests")}})
	add("warmup", "a task of the host, whose answer is work", "0 calls, 1 ends", form{heard: []*session{claude("wu6").asks("<scheduled-task name=\"nightly\">Check the links</scheduled-task>").settles("links")}})
	add("warmup", "a subagent's", oneTurn, form{heard: []*session{base("wu5")}, files: map[string]string{
		projects("wu5") + "agent-77aa88.jsonl": agentFile("wu5", "77aa88", "Warmup", "I am ready to explore "+heron), projects("wu5") + "agent-77aa88.meta.json": `{"agentType":"Explore"}`}})

	// Sessions that go on elsewhere.
	moved := func(s *session) *session {
		return s.in("~/west").asks("Write the client").edits("client.go").settles("client")
	}
	const both = "asked: " + typed + "|asked: Write the client|record of shop: cart.go|record of west: client.go|2 calls, 2 ends"
	add("codex-resume-elsewhere", "in Codex CLI, and back", strings.NewReplacer("|record of shop: cart.go", "|asked: Add a test of it|record of shop: cart.go|record of shop: cart_test.go", "|2 calls, 2", "|3 calls, 3").Replace(both),
		form{heard: []*session{test(moved(ofCodex("el1")).in(shop("el1")))}})
	add("codex-resume-elsewhere", "in Gemini CLI, a file for each", both, form{heard: []*session{
		gemini("el2").asks(typed).edits("cart.go").settles("column"), moved(gemini("el2").in("~/west").called(10).after(time.Hour))}})
	add("codex-resume-elsewhere", "which changing the directory is not", strings.NewReplacer("cart.go", "api/cart.go", "cart_test.go", "cart.go").Replace(goesOn), form{heard: []*session{
		base("el3").in(shop("el3") + "/api").asks("Add a test of it").edits("cart.go").settles("test")}})

	// Names in both Unicode forms.
	add("nfd-path", "a decomposed directory, a composed file", "asked: "+typed+"|record of cafe\u0301: menü.go|1 calls, 1 ends", form{
		heard: []*session{claude("nf1").in("~/cafe\u0301").asks(typed).edits("~/caf\u00e9/men\u00fc.go").settles("column")},
		check: func(u *user) {
			u.lists(1, "search", "--file", "menu\u0308", "-p", "caf\u00e9")
			u.lists(1, "recent", "-p", "cafe\u0301")
		}})
	add("nfd-path", "Codex CLI, a decomposed name in a patch", "asked: "+typed+"|record of kana: src/ga/\u304b\u3099.go|1 calls, 1 ends", form{
		heard: []*session{codex("nf2").in("~/kana").asks(typed).edits("src/ga/\u304b\u3099.go").settles("column")},
		check: func(u *user) { u.lists(1, "search", "--file", "\u304c.go", "-p", u.Home+"/kana") }})
	add("nfd-path", "Gemini CLI, letters with two marks", "asked: "+typed+"|record of vi\u1ec7t: \u1ec7.go|1 calls, 1 ends", form{
		heard: []*session{gemini("nf3").in("~/vi\u1ec7t").asks(typed).edits("~/vie\u0323\u0302t/\u1ec7.go").settles("column")},
		check: func(u *user) { u.lists(1, "search", "--file", "e\u0323\u0302", "-p", "vie\u0323\u0302t") }})
	return append(list, played()...)
}
