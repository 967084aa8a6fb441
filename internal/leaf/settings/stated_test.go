package settings

import "testing"

// TestStatedDefaults has each default as it was promised, apart from the table: one that changes
// by accident changes what people's memories do.
func TestStatedDefaults(t *testing.T) {
	stated := map[string]string{
		"PROVIDER": "auto", "MODEL": "", "CLAUDE_AUTH": "subscription", "MAX_OBSERVERS": "2", "OBSERVER_CONTEXT_TOKENS": "12000",
		"REQUESTS_PER_MINUTE": "0", "MODE": "code", "LANGUAGE": "",
		"BATCHING_ENABLED": "true", "BATCH_MAX_SIZE": "40", "DAILY_TOKEN_CAP": "2000000", "SESSION_TOKEN_CAP": "400000", "PROVIDER_WAIT_MINUTES": "60",
		"SKIP_TOOLS":        "Glob,Grep,LS,ListMcpResourcesTool,TodoWrite,TaskCreate,TaskUpdate,Skill,SlashCommand,ToolSearch",
		"EXCLUDED_PROJECTS": "", "INCLUDED_PROJECTS": "", "WITHHOLD_FILES": ".env*,*.pem,id_*,.netrc,.aws/credentials,*.key",
		"CONTEXT_BUDGET": "2000", "CONTEXT_CAP_SESSIONS": "400", "CONTEXT_CAP_SYMBOLS": "500", "CONTEXT_CAP_LEARNINGS": "300",
		"CONTEXT_CAP_OBSERVATIONS": "600", "CONTEXT_CAP_RESERVE": "200", "CONTEXT_MAX_SESSIONS": "10", "CONTEXT_MAX_SYMBOLS": "30",
		"CONTEXT_MAX_LEARNINGS": "10", "CONTEXT_MAX_OBSERVATIONS": "10", "CONTEXT_MIN_CONFIDENCE": "0.5", "RECALL": "on", "AGENT_FILES": "off",
		"EMBEDDER": "builtin", "EMBEDDER_BASE_URL": "", "EMBEDDER_MODEL": "", "EMBEDDER_API_KEY": "", "RECENCY_DAYS": "90",
		"WORKER_PORT": "37777", "REQUIRE_TOKEN": "auto", "IDLE_EXIT_MINUTES": "30", "RETENTION_DAYS": "0", "BACKUP_KEEP": "3", "LOG_LEVEL": "info",
		"ANTHROPIC_API_KEY": "", "GEMINI_API_KEY": "", "OPENROUTER_API_KEY": "", "OPENAI_API_KEY": "", "OLLAMA_API_KEY": "",
		"ANTHROPIC_BASE_URL": "", "GEMINI_BASE_URL": "", "OPENROUTER_BASE_URL": "", "OPENAI_BASE_URL": "", "OLLAMA_BASE_URL": "",
	}
	for key, want := range stated {
		if s, known := Lookup("CLAUDE_MEM_" + key); !known || s.Default != want {
			t.Errorf("%s: default %q (known: %t), want %q", key, s.Default, known, want)
		}
	}
}
