package claude

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestReadLogin(t *testing.T) {
	if runtime.GOOS != "linux" || exists(managed["linux"]) {
		t.Skip("the login of this machine may be elsewhere")
	}
	for name, test := range map[string]struct {
		settings, credentials, state string
		env                          map[string]string
		want                         Login
	}{
		"nothing":              {want: Login{Kind: LoginNone}},
		"logged in":            {credentials: "{}", want: Login{Kind: LoginSubscription, ByItself: true}},
		"key in the shell":     {env: map[string]string{"ANTHROPIC_API_KEY": "k"}, want: Login{Kind: LoginKey, Name: "ANTHROPIC_API_KEY", Shell: true}},
		"key beside a login":   {credentials: "{}", env: map[string]string{"ANTHROPIC_API_KEY": "k"}, want: Login{Kind: LoginKey, Name: "ANTHROPIC_API_KEY", Shell: true, ByItself: true}},
		"key in the settings":  {settings: `{"env":{"ANTHROPIC_API_KEY":"k"}}`, want: Login{Kind: LoginKey, Name: "ANTHROPIC_API_KEY", ByItself: true}},
		"helper":               {settings: `{"apiKeyHelper":"get-key"}`, want: Login{Kind: LoginHelper, Name: "apiKeyHelper", ByItself: true}},
		"gateway":              {env: map[string]string{"ANTHROPIC_AUTH_TOKEN": "t", "ANTHROPIC_BASE_URL": "u"}, want: Login{Kind: LoginGateway, Name: "ANTHROPIC_AUTH_TOKEN", Shell: true}},
		"Bedrock in the shell": {env: map[string]string{"CLAUDE_CODE_USE_BEDROCK": "1"}, want: Login{Kind: LoginCloud, Name: "CLAUDE_CODE_USE_BEDROCK", Shell: true}},
		"Vertex in the settings": {
			settings: `{"env":{"CLAUDE_CODE_USE_VERTEX":"1"}}`, env: map[string]string{"ANTHROPIC_API_KEY": "k"},
			want: Login{Kind: LoginCloud, Name: "CLAUDE_CODE_USE_VERTEX", ByItself: true},
		},
		"broken settings":      {settings: `{`, want: Login{Kind: LoginUnknown, ByItself: true}},
		"logged in by Console": {state: `{"primaryApiKey":"k"}`, want: Login{Kind: LoginUnknown, ByItself: true}},
		"Bedrock switched off": {env: map[string]string{"CLAUDE_CODE_USE_BEDROCK": "0"}, want: Login{Kind: LoginNone}},
		"another shape":        {settings: `{"env":[1]}`, want: Login{Kind: LoginUnknown, ByItself: true}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), ".claude")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			for file, content := range map[string]string{"settings.json": test.settings, ".credentials.json": test.credentials, "../.claude.json": test.state} {
				if content == "" {
					continue
				}
				if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := ReadLogin(dir, func(key string) string { return test.env[key] }); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestLoginStamp(t *testing.T) {
	dir := t.TempDir()
	stamp := func() string { return LoginStamp([]string{"CLAUDE_CONFIG_DIR=" + dir}) }
	before := stamp()
	if err := os.WriteFile(filepath.Join(dir, ".credentials.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if after := stamp(); after == before || after != stamp() {
		t.Errorf("%q before and %q after a login", before, after)
	}
}
