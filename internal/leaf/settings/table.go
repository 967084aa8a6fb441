package settings

import "strings"

// Kind says how a value is parsed.
type Kind string

// The kinds of value.
const (
	Text    Kind = "text"
	Bool    Kind = "true or false"
	Integer Kind = "whole number"
	Number  Kind = "number"
	Minutes Kind = "minutes"
	Days    Kind = "days"
	List    Kind = "list, separated by commas"
	Choice  Kind = "one of"
)

// Setting is a row of the table.
type Setting struct {
	Key     string
	Default string
	Group   string
	// Help is one line.
	Help string
	Kind Kind
	// Choices are the values of a Choice, or of the items of a List, separated by blanks; a
	// List that has the first one has no other.
	Choices string
	// Safe is the value in force when the value that is set is invalid or the file is
	// broken; "" means Default.
	Safe string
	// Secret values are never shown.
	Secret bool
	// OnPage lets a page of the viewer change it, as `config set` does. What decides where text
	// goes, who may read it, what is captured and what is erased is changed at a terminal only, and
	// so is a setting that does not say.
	OnPage bool
}

// AtOnce reports whether a running worker uses a new value without a restart.
func (s Setting) AtOnce() bool {
	switch s.Key {
	case KeyMaxObservers, KeyObserverContextTokens:
		return false
	case KeyDailyTokenCap, KeySessionTokenCap, KeyRecencyDays, KeyRetentionDays, KeyBackupKeep:
		return true
	}
	return s.Group == "capture" || s.Group == "observer" || s.Group == "context"
}

// The keys, as they stand in the environment and in config.json.
const (
	KeyProvider              = "CLAUDE_MEM_PROVIDER"
	KeyModel                 = "CLAUDE_MEM_MODEL"
	KeyAnthropicAPIKey       = "CLAUDE_MEM_ANTHROPIC_API_KEY"
	KeyAnthropicBaseURL      = "CLAUDE_MEM_ANTHROPIC_BASE_URL"
	KeyGeminiAPIKey          = "CLAUDE_MEM_GEMINI_API_KEY"
	KeyGeminiBaseURL         = "CLAUDE_MEM_GEMINI_BASE_URL"
	KeyOpenRouterAPIKey      = "CLAUDE_MEM_OPENROUTER_API_KEY"
	KeyOpenRouterBaseURL     = "CLAUDE_MEM_OPENROUTER_BASE_URL"
	KeyOpenAIAPIKey          = "CLAUDE_MEM_OPENAI_API_KEY"
	KeyOpenAIBaseURL         = "CLAUDE_MEM_OPENAI_BASE_URL"
	KeyOllamaAPIKey          = "CLAUDE_MEM_OLLAMA_API_KEY"
	KeyOllamaBaseURL         = "CLAUDE_MEM_OLLAMA_BASE_URL"
	KeyClaudeAuth            = "CLAUDE_MEM_CLAUDE_AUTH"
	KeyMaxObservers          = "CLAUDE_MEM_MAX_OBSERVERS"
	KeyObserverContextTokens = "CLAUDE_MEM_OBSERVER_CONTEXT_TOKENS"
	KeyRequestsPerMinute     = "CLAUDE_MEM_REQUESTS_PER_MINUTE"
	KeyMode                  = "CLAUDE_MEM_MODE"
	KeyLanguage              = "CLAUDE_MEM_LANGUAGE"

	KeyBatchingEnabled     = "CLAUDE_MEM_BATCHING_ENABLED"
	KeyBatchMaxSize        = "CLAUDE_MEM_BATCH_MAX_SIZE"
	KeyDailyTokenCap       = "CLAUDE_MEM_DAILY_TOKEN_CAP"
	KeySessionTokenCap     = "CLAUDE_MEM_SESSION_TOKEN_CAP"
	KeyProviderWaitMinutes = "CLAUDE_MEM_PROVIDER_WAIT_MINUTES"

	KeySkipTools        = "CLAUDE_MEM_SKIP_TOOLS"
	KeyExcludedProjects = "CLAUDE_MEM_EXCLUDED_PROJECTS"
	KeyIncludedProjects = "CLAUDE_MEM_INCLUDED_PROJECTS"
	KeyWithholdFiles    = "CLAUDE_MEM_WITHHOLD_FILES"

	KeyContextBudget          = "CLAUDE_MEM_CONTEXT_BUDGET"
	KeyContextCapSessions     = "CLAUDE_MEM_CONTEXT_CAP_SESSIONS"
	KeyContextCapSymbols      = "CLAUDE_MEM_CONTEXT_CAP_SYMBOLS"
	KeyContextCapLearnings    = "CLAUDE_MEM_CONTEXT_CAP_LEARNINGS"
	KeyContextCapObservations = "CLAUDE_MEM_CONTEXT_CAP_OBSERVATIONS"
	KeyContextCapReserve      = "CLAUDE_MEM_CONTEXT_CAP_RESERVE"
	KeyContextMaxSessions     = "CLAUDE_MEM_CONTEXT_MAX_SESSIONS"
	KeyContextMaxSymbols      = "CLAUDE_MEM_CONTEXT_MAX_SYMBOLS"
	KeyContextMaxLearnings    = "CLAUDE_MEM_CONTEXT_MAX_LEARNINGS"
	KeyContextMaxObservations = "CLAUDE_MEM_CONTEXT_MAX_OBSERVATIONS"
	KeyContextMinConfidence   = "CLAUDE_MEM_CONTEXT_MIN_CONFIDENCE"
	KeyStartLine              = "CLAUDE_MEM_START_LINE"
	KeyRecall                 = "CLAUDE_MEM_RECALL"
	KeyAgentFiles             = "CLAUDE_MEM_AGENT_FILES"

	KeyEmbedder         = "CLAUDE_MEM_EMBEDDER"
	KeyEmbedderTraining = "CLAUDE_MEM_EMBEDDER_TRAINING"
	KeyEmbedderBaseURL  = "CLAUDE_MEM_EMBEDDER_BASE_URL"
	KeyEmbedderModel    = "CLAUDE_MEM_EMBEDDER_MODEL"
	KeyEmbedderAPIKey   = "CLAUDE_MEM_EMBEDDER_API_KEY"
	KeyRecencyDays      = "CLAUDE_MEM_RECENCY_DAYS"

	KeyWorkerPort      = "CLAUDE_MEM_WORKER_PORT"
	KeyRequireToken    = "CLAUDE_MEM_REQUIRE_TOKEN"
	KeyIdleExitMinutes = "CLAUDE_MEM_IDLE_EXIT_MINUTES"
	KeyRetentionDays   = "CLAUDE_MEM_RETENTION_DAYS"
	KeyBackupKeep      = "CLAUDE_MEM_BACKUP_KEEP"
	KeyLogLevel        = "CLAUDE_MEM_LOG_LEVEL"
)

// Values of the setting PROVIDER that are not models behind an API.
const (
	ProviderAuto    = "auto"
	ProviderClaude  = "claude"
	ProviderOffline = "offline"
)

// ProviderKeys returns the keys of the settings that hold a provider's API key and URL.
func ProviderKeys(provider string) (apiKey, baseURL string) {
	return prefix + strings.ToUpper(provider) + "_API_KEY", prefix + strings.ToUpper(provider) + "_BASE_URL"
}

// DefaultSkipTools are the tools whose calls are not worth storing.
const DefaultSkipTools = "Glob,Grep,LS,ListMcpResourcesTool,TodoWrite,TaskCreate,TaskUpdate,Skill,SlashCommand,ToolSearch"

// DefaultWithholdFiles are the files whose contents never leave the hook.
const DefaultWithholdFiles = ".env*,*.pem,id_*,.netrc,.aws/credentials,*.key"

// table has only constants, so that it needs no init function.
var table = [...]Setting{
	{Key: KeyProvider, Default: "auto", Safe: "offline", Group: "observer", Kind: Choice, Choices: "auto claude anthropic gemini openrouter openai ollama offline", Help: "what makes records of captured events; auto: the claude CLI for sessions of Claude Code if it is installed, else offline (no model)"},
	{Key: KeyModel, Group: "observer", Kind: Text, Help: "model of the provider; empty: the provider's default (claude: haiku)"},
	{Key: KeyAnthropicAPIKey, Group: "observer", Kind: Text, Secret: true, Help: "API key for the provider anthropic"},
	{Key: KeyAnthropicBaseURL, Group: "observer", Kind: Text, Help: "URL of the Anthropic API; empty: the vendor's"},
	{Key: KeyGeminiAPIKey, Group: "observer", Kind: Text, Secret: true, Help: "API key for the provider gemini"},
	{Key: KeyGeminiBaseURL, Group: "observer", Kind: Text, Help: "URL of the Gemini API; empty: the vendor's"},
	{Key: KeyOpenRouterAPIKey, Group: "observer", Kind: Text, Secret: true, Help: "API key for the provider openrouter"},
	{Key: KeyOpenRouterBaseURL, Group: "observer", Kind: Text, Help: "URL of the OpenRouter API; empty: the vendor's"},
	{Key: KeyOpenAIAPIKey, Group: "observer", Kind: Text, Secret: true, Help: "API key for the provider openai"},
	{Key: KeyOpenAIBaseURL, Group: "observer", Kind: Text, Help: "URL of an OpenAI-compatible API; empty: OpenAI's"},
	{Key: KeyOllamaAPIKey, Group: "observer", Kind: Text, Secret: true, Help: "API key for the provider ollama, if the server needs one"},
	{Key: KeyOllamaBaseURL, Group: "observer", Kind: Text, Help: "URL of the Ollama server; empty: http://127.0.0.1:11434/v1"},
	{Key: KeyClaudeAuth, Default: "subscription", Group: "observer", Kind: Choice, Choices: "subscription inherit", Help: "account of the claude CLI; subscription: its own login; inherit: the ANTHROPIC_* variables are passed on"},
	{Key: KeyMaxObservers, OnPage: true, Default: "2", Group: "observer", Kind: Integer, Help: "number of sessions processed at the same time"},
	{Key: KeyObserverContextTokens, OnPage: true, Default: "12000", Group: "observer", Kind: Integer, Help: "tokens after which an observer compacts its conversation with the model"},
	{Key: KeyRequestsPerMinute, OnPage: true, Default: "0", Group: "observer", Kind: Integer, Help: "maximum requests per minute to the provider; 0: no limit"},
	{Key: KeyMode, Default: "code", Group: "observer", Kind: Text, Help: "what to look for in sessions: code, or the name of a file in modes/ of the data directory"},
	{Key: KeyLanguage, OnPage: true, Group: "observer", Kind: Text, Help: "language of the records that a model writes, by name or code: German, de, pt-br; empty: the session's; without a model records keep the session's words"},

	{Key: KeyBatchingEnabled, OnPage: true, Default: "true", Group: "cost", Kind: Bool, Help: "send several events to the model in one request"},
	{Key: KeyBatchMaxSize, OnPage: true, Default: "40", Group: "cost", Kind: Integer, Help: "maximum events in one request"},
	{Key: KeyDailyTokenCap, OnPage: true, Default: "2000000", Group: "cost", Kind: Integer, Help: "maximum tokens per day; above it work goes on offline; 0: no limit"},
	{Key: KeySessionTokenCap, OnPage: true, Default: "400000", Group: "cost", Kind: Integer, Help: "maximum tokens per session; above it the session goes on offline; 0: no limit"},
	{Key: KeyProviderWaitMinutes, OnPage: true, Default: "60", Group: "cost", Kind: Minutes, Help: "how long events wait for an unreachable provider before they are processed offline"},

	{Key: KeySkipTools, Default: DefaultSkipTools, Group: "capture", Kind: List, Help: "tools whose calls are counted but not stored"},
	{Key: KeyExcludedProjects, Group: "capture", Kind: List, Help: "globs of project directories where nothing is captured"},
	{Key: KeyIncludedProjects, Group: "capture", Kind: List, Help: "globs of project directories; if set, nothing is captured elsewhere"},
	{Key: KeyWithholdFiles, Default: DefaultWithholdFiles, Group: "capture", Kind: List, Help: "globs of files whose contents are never stored"},

	{Key: KeyContextBudget, OnPage: true, Default: "2000", Group: "context", Kind: Integer, Help: "maximum tokens of the context block at the start of a session"},
	{Key: KeyContextCapSessions, OnPage: true, Default: "400", Group: "context", Kind: Integer, Help: "maximum tokens for recent sessions"},
	{Key: KeyContextCapSymbols, OnPage: true, Default: "500", Group: "context", Kind: Integer, Help: "maximum tokens for recently changed code"},
	{Key: KeyContextCapLearnings, OnPage: true, Default: "300", Group: "context", Kind: Integer, Help: "maximum tokens for learnings about the project"},
	{Key: KeyContextCapObservations, OnPage: true, Default: "600", Group: "context", Kind: Integer, Help: "maximum tokens for observations of past work"},
	{Key: KeyContextCapReserve, OnPage: true, Default: "200", Group: "context", Kind: Integer, Help: "tokens reserved for headings and the last line"},
	{Key: KeyContextMaxSessions, OnPage: true, Default: "10", Group: "context", Kind: Integer, Help: "maximum sessions in the context block"},
	{Key: KeyContextMaxSymbols, OnPage: true, Default: "30", Group: "context", Kind: Integer, Help: "maximum symbols in the context block"},
	{Key: KeyContextMaxLearnings, OnPage: true, Default: "10", Group: "context", Kind: Integer, Help: "maximum learnings in the context block"},
	{Key: KeyContextMaxObservations, OnPage: true, Default: "10", Group: "context", Kind: Integer, Help: "maximum observations in the context block"},
	{Key: KeyContextMinConfidence, OnPage: true, Default: "0.5", Group: "context", Kind: Number, Help: "minimum confidence of a learning to be shown, 0 to 1"},
	{Key: KeyStartLine, OnPage: true, Default: "on", Group: "context", Kind: Bool, Help: "at the start of a session, show the user one line: how much is remembered of the project, what came last, and where it is read what the agent was given (claude-mem open given)"},
	{Key: KeyRecall, OnPage: true, Default: "on", Safe: "off", Group: "context", Kind: Bool, Help: "show related past work at prompts, file reads and failures"},
	{Key: KeyAgentFiles, Default: "off", Group: "context", Kind: List, Choices: "off root folders cursor", Help: "files of a project that get a block of recent records: off, or a list of root, folders, cursor"},

	{Key: KeyEmbedder, Default: "builtin", Group: "search", Kind: Choice, Choices: "builtin openai-compatible off", Help: "source of the vectors for semantic search"},
	{Key: KeyEmbedderTraining, OnPage: true, Default: "on", Group: "search", Kind: Bool, Help: "train the built-in vectors further on your own observations, from 1000 on; in the background, and nothing leaves the machine"},
	{Key: KeyEmbedderBaseURL, Group: "search", Kind: Text, Help: "URL of an OpenAI-compatible embedding server"},
	{Key: KeyEmbedderModel, Group: "search", Kind: Text, Help: "model of the embedding server"},
	{Key: KeyEmbedderAPIKey, Group: "search", Kind: Text, Secret: true, Help: "API key for the embedding server"},
	{Key: KeyRecencyDays, OnPage: true, Default: "90", Group: "search", Kind: Days, Help: "maximum age of matches by meaning alone; 0: any"},

	{Key: KeyWorkerPort, Default: "37777", Group: "worker", Kind: Integer, Help: "port of the worker on 127.0.0.1, or the next free one; 0: none"},
	{Key: KeyRequireToken, Default: "auto", Safe: "true", Group: "worker", Kind: Choice, Choices: "auto true false", Help: "clients on the port must send the token; auto: only where the system cannot tell users apart"},
	{Key: KeyIdleExitMinutes, OnPage: true, Default: "30", Group: "worker", Kind: Minutes, Help: "idle time after which the worker exits; 0: never"},
	{Key: KeyRetentionDays, Default: "0", Group: "worker", Kind: Days, Help: "age at which prompts, summaries and observations that are not pinned are hidden, and a week later erased; 0: never"},
	{Key: KeyBackupKeep, Default: "3", Group: "worker", Kind: Integer, Help: "number of daily backups to keep, fewer if they take more than 64 MB and twice the database; 0: no backups"},
	{Key: KeyLogLevel, OnPage: true, Default: "info", Group: "worker", Kind: Choice, Choices: "debug info warn error", Help: "minimum level of messages in the worker's log"},
}

// All returns the table, in its order of display.
func All() []Setting { return table[:] }

// Lookup returns the row of a key, with or without the prefix CLAUDE_MEM_, in any letter
// case; false if there is none.
func Lookup(name string) (Setting, bool) {
	if i := indexOf(name); i >= 0 {
		return table[i], true
	}
	return Setting{}, false
}

const prefix = "CLAUDE_MEM_"

// indexOf returns the row of a key, with or without its prefix and in any letter case; -1
// when there is none.
func indexOf(name string) int {
	for i := range table {
		if key := table[i].Key; strings.EqualFold(key, name) || strings.EqualFold(key[len(prefix):], name) {
			return i
		}
	}
	return -1
}
