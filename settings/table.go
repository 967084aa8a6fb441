package settings

// Kind says how a value is read.
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
	// Choices are the values of a Choice, separated by blanks.
	Choices string
	// Safe is in force when the value that is set cannot be used, or the file is
	// broken: what sends nothing and gives nothing back. "" stands for Default.
	Safe string
	// Secret values are never shown.
	Secret bool
	// Later settings are read by nothing yet: they cannot be set.
	Later bool
}

// The keys, as they stand in the environment and in settings.json.
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
	KeyMergeMaxEvents      = "CLAUDE_MEM_MERGE_MAX_EVENTS"
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
	KeyRecall                 = "CLAUDE_MEM_RECALL"
	KeyAgentFiles             = "CLAUDE_MEM_AGENT_FILES"

	KeyEmbedder        = "CLAUDE_MEM_EMBEDDER"
	KeyEmbedderBaseURL = "CLAUDE_MEM_EMBEDDER_BASE_URL"
	KeyEmbedderModel   = "CLAUDE_MEM_EMBEDDER_MODEL"
	KeyEmbedderAPIKey  = "CLAUDE_MEM_EMBEDDER_API_KEY"
	KeyRecencyDays     = "CLAUDE_MEM_RECENCY_DAYS"

	KeyWorkerPort      = "CLAUDE_MEM_WORKER_PORT"
	KeyRequireToken    = "CLAUDE_MEM_REQUIRE_TOKEN"
	KeyIdleExitMinutes = "CLAUDE_MEM_IDLE_EXIT_MINUTES"
	KeyRetentionDays   = "CLAUDE_MEM_RETENTION_DAYS"
	KeyBackupKeep      = "CLAUDE_MEM_BACKUP_KEEP"
	KeyLogLevel        = "CLAUDE_MEM_LOG_LEVEL"
)

// DefaultSkipTools are the tools whose use tells nothing worth remembering.
const DefaultSkipTools = "Glob,Grep,LS,ListMcpResourcesTool,TodoWrite,TaskCreate,TaskUpdate,AskUserQuestion,Skill,SlashCommand,ToolSearch"

// DefaultWithholdFiles are the files whose contents never leave the hook.
const DefaultWithholdFiles = ".env*,*.pem,id_*,.netrc,.aws/credentials,*.key"

// table is only constants, so that the linker and not an init function fills it.
var table = [...]Setting{
	{Key: KeyProvider, Default: "auto", Safe: "offline", Group: "observer", Kind: Choice, Choices: "auto claude anthropic gemini openrouter openai ollama offline", Help: "who distils what was captured; auto: claude for sessions of Claude Code when its CLI is there, else no model"},
	{Key: KeyModel, Group: "observer", Kind: Text, Help: "model of the provider; empty takes the provider's default (claude: haiku)"},
	{Key: KeyAnthropicAPIKey, Group: "observer", Kind: Text, Secret: true, Help: "API key for the provider anthropic"},
	{Key: KeyAnthropicBaseURL, Group: "observer", Kind: Text, Help: "address of the Anthropic API, empty for the vendor's own"},
	{Key: KeyGeminiAPIKey, Group: "observer", Kind: Text, Secret: true, Help: "API key for the provider gemini"},
	{Key: KeyGeminiBaseURL, Group: "observer", Kind: Text, Help: "address of the Gemini API, empty for the vendor's own"},
	{Key: KeyOpenRouterAPIKey, Group: "observer", Kind: Text, Secret: true, Help: "API key for the provider openrouter"},
	{Key: KeyOpenRouterBaseURL, Group: "observer", Kind: Text, Help: "address of the OpenRouter API, empty for the vendor's own"},
	{Key: KeyOpenAIAPIKey, Group: "observer", Kind: Text, Secret: true, Help: "API key for the provider openai"},
	{Key: KeyOpenAIBaseURL, Group: "observer", Kind: Text, Help: "address of an OpenAI-compatible API, empty for the vendor's own"},
	{Key: KeyOllamaAPIKey, Group: "observer", Kind: Text, Secret: true, Help: "API key for an Ollama server that asks for one"},
	{Key: KeyOllamaBaseURL, Group: "observer", Kind: Text, Help: "address of the Ollama server, empty for the one on this machine"},
	{Key: KeyClaudeAuth, Default: "subscription", Group: "observer", Kind: Choice, Choices: "subscription inherit", Help: "what the provider claude pays with; inherit hands ANTHROPIC_API_KEY on to it"},
	{Key: KeyMaxObservers, Default: "2", Group: "observer", Kind: Integer, Help: "how many sessions are distilled at the same time"},
	{Key: KeyObserverContextTokens, Default: "12000", Group: "observer", Kind: Integer, Help: "tokens of its own conversation after which an observer compacts it"},
	{Key: KeyRequestsPerMinute, Default: "0", Group: "observer", Kind: Integer, Help: "limit of requests to the provider, 0 for none"},
	{Key: KeyMode, Default: "code", Group: "observer", Kind: Text, Help: "what is looked for: code, or the name of a file in the data directory's modes"},
	{Key: KeyLanguage, Group: "observer", Kind: Text, Help: "language in which memories are written, empty for the session's own"},

	{Key: KeyBatchingEnabled, Default: "true", Group: "cost", Kind: Bool, Help: "whether several events go to the model in one request"},
	{Key: KeyBatchMaxSize, Default: "20", Group: "cost", Kind: Integer, Help: "most events in one request"},
	{Key: KeyMergeMaxEvents, Default: "3", Group: "cost", Kind: Integer, Help: "turns of up to this many events and 8 KB are distilled and summed up in one call"},
	{Key: KeyDailyTokenCap, Default: "2000000", Group: "cost", Kind: Integer, Help: "tokens a day after which distilling goes on offline, 0 for no cap"},
	{Key: KeySessionTokenCap, Default: "400000", Group: "cost", Kind: Integer, Help: "tokens a session after which it is distilled offline, 0 for no cap"},
	{Key: KeyProviderWaitMinutes, Default: "60", Group: "cost", Kind: Minutes, Help: "how long events wait for a provider that is away before they are distilled offline"},

	{Key: KeySkipTools, Default: DefaultSkipTools, Group: "capture", Kind: List, Help: "tools whose use is counted and not remembered"},
	{Key: KeyExcludedProjects, Group: "capture", Kind: List, Help: "globs of project directories in which nothing is captured"},
	{Key: KeyIncludedProjects, Group: "capture", Kind: List, Help: "globs of project directories; when set, nothing is captured anywhere else"},
	{Key: KeyWithholdFiles, Default: DefaultWithholdFiles, Group: "capture", Kind: List, Help: "globs of files whose contents are withheld whole"},

	{Key: KeyContextBudget, Default: "2000", Group: "context", Kind: Integer, Help: "tokens of the context block that a session starts with"},
	{Key: KeyContextCapSessions, Default: "400", Group: "context", Kind: Integer, Help: "tokens for recent sessions"},
	{Key: KeyContextCapSymbols, Default: "500", Group: "context", Kind: Integer, Help: "tokens for recently changed code"},
	{Key: KeyContextCapLearnings, Default: "300", Group: "context", Kind: Integer, Help: "tokens for project knowledge"},
	{Key: KeyContextCapObservations, Default: "600", Group: "context", Kind: Integer, Help: "tokens for relevant past work"},
	{Key: KeyContextCapReserve, Default: "200", Group: "context", Kind: Integer, Help: "tokens kept for the frame and the closing line"},
	{Key: KeyContextMaxSessions, Default: "10", Group: "context", Kind: Integer, Help: "most sessions listed"},
	{Key: KeyContextMaxSymbols, Later: true, Default: "30", Group: "context", Kind: Integer, Help: "most symbols listed"},
	{Key: KeyContextMaxLearnings, Default: "10", Group: "context", Kind: Integer, Help: "most learnings listed"},
	{Key: KeyContextMaxObservations, Default: "10", Group: "context", Kind: Integer, Help: "most observations listed"},
	{Key: KeyContextMinConfidence, Default: "0.5", Group: "context", Kind: Number, Help: "confidence from which a learning is shown, 0 to 1"},
	{Key: KeyRecall, Default: "on", Safe: "off", Group: "context", Kind: Bool, Help: "whether past work is recalled beside prompts, files and failures"},
	{Key: KeyAgentFiles, Later: true, Default: "off", Group: "context", Kind: Text, Help: "where memory is also kept in files: off, or of root, folders, cursor, separated by commas"},

	{Key: KeyEmbedder, Default: "builtin", Group: "search", Kind: Choice, Choices: "builtin openai-compatible off", Help: "who makes the vectors of semantic search"},
	{Key: KeyEmbedderBaseURL, Group: "search", Kind: Text, Help: "address of an OpenAI-compatible embedder"},
	{Key: KeyEmbedderModel, Group: "search", Kind: Text, Help: "model of that embedder"},
	{Key: KeyEmbedderAPIKey, Group: "search", Kind: Text, Secret: true, Help: "API key for that embedder"},
	{Key: KeyRecencyDays, Default: "90", Group: "search", Kind: Days, Help: "age up to which semantic hits count, 0 for any"},

	{Key: KeyWorkerPort, Default: "37777", Group: "worker", Kind: Integer, Help: "port on 127.0.0.1, 0 for none; if another program has it the next free one is taken"},
	{Key: KeyRequireToken, Default: "auto", Safe: "true", Group: "worker", Kind: Choice, Choices: "auto true false", Help: "whether clients on the port must show the token; auto asks where they can't be told apart otherwise"},
	{Key: KeyIdleExitMinutes, Default: "30", Group: "worker", Kind: Minutes, Help: "idle time after which the worker ends, 0 for never"},
	{Key: KeyRetentionDays, Later: true, Default: "0", Group: "worker", Kind: Days, Help: "age at which records are deleted, 0 to keep them"},
	{Key: KeyBackupKeep, Later: true, Default: "3", Group: "worker", Kind: Integer, Help: "how many backups are kept"},
	{Key: KeyLogLevel, Default: "info", Group: "worker", Kind: Choice, Choices: "debug info warn error", Help: "what the worker writes to its log"},
}

// All returns the table, in the order in which people are shown it.
func All() []Setting { return table[:] }

// Lookup finds a row by its key; the prefix CLAUDE_MEM_ may be left out and case does not matter.
func Lookup(name string) (Setting, bool) {
	if i := indexOf(name); i >= 0 {
		return table[i], true
	}
	return Setting{}, false
}

const prefix = "CLAUDE_MEM_"

func indexOf(name string) int {
	for i := range table {
		if key := table[i].Key; key == name || sameName(key, name) || sameName(key[len(prefix):], name) {
			return i
		}
	}
	return -1
}

func sameName(key, name string) bool {
	if len(key) != len(name) {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		if c != key[i] {
			return false
		}
	}
	return true
}
