package redact

import (
	"slices"
	"strings"
	"testing"

	"claudemem/internal/capture/redact/secrets"
	"claudemem/internal/capture/redact/shapes"
	"claudemem/internal/capture/redact/tags"
	"claudemem/internal/capture/redact/tokens"
)

// The secrets here are made up, and put together at run time, so that no
// scanner takes this file for a leak.
func cat(parts ...string) string { return strings.Join(parts, "") }

var (
	awsID       = cat("AK", "IA", "IOSFODNN7", "EXAMPLE")
	awsSecret   = cat("wJalrXUtnFEMI", "/K7MDENG/", "bPxRfiCYEXAMPLEKEY")
	ghp         = cat("gh", "p_", "16C7e42F292c6912E7710c838347Ae178B4a")
	ghFine      = cat("github", "_pat_", "11ABCDEFG0abcdefghijkl_mnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefghijk")
	gitlab      = cat("gl", "pat-", "Zk3vQx9wLm2nTr8yBd5c")
	slackBot    = cat("xo", "xb-", "123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx")
	slackHook   = cat("https://hooks.slack", ".com/services/", "T01ABCDEF/B01GHIJKL/", "aBcDeFgHiJkLmNoPqRsTuVwX")
	stripeLive  = cat("sk", "_live_", "4eC39HqLyjWDarjtT1zdp7dc")
	stripeTest  = cat("rk", "_test_", "4eC39HqLyjWDarjtT1zdp7dc")
	stripeHook  = cat("wh", "sec_", "aBcDeFgHiJkLmNoPqRsTuVwXyZ012345")
	openAI      = cat("s", "k-", "aBcD1eFgH2iJkL3mNoP4qRsT", "3Blbk", "FJuVwX5yZaB6cDeF7gHiJ8kL")
	openAIProj  = cat("s", "k-proj-", "aBcD1eFgH2iJkL3mNoP4_qRsT-uVwX5yZaB6cDeF7gHiJ8kL")
	anthropic   = cat("s", "k-ant-", "api03-", "aBcD1eFgH2iJkL3mNoP4qRsT-uVwX5yZaB6cDeF7gHiJ8kL_AA")
	google      = cat("AI", "za", "SyD3x4mPl3K3yV4lu3N0tR34lAtAll12345")
	npm         = cat("np", "m_", "aBcD1eFgH2iJkL3mNoP4qRsT5uVwX6yZ7aB8")
	jwt         = cat("ey", "JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", ".ey", "JzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4ifQ", ".", "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c")
	pemBody     = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\nMzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu"
	pem         = cat("-----BEGIN ", "RSA PRIVATE KEY-----\n", pemBody, "\n-----END ", "RSA PRIVATE KEY-----")
	pemCut      = cat("-----BEGIN ", "OPENSSH PRIVATE KEY-----\n", pemBody)
	urlPassword = cat("postgres://admin:", "Tr0ub4dor", "@db.internal:5432/app")
	basic       = cat("Authorization: Basic ", "YWRtaW46VHIwdWI0ZG9y")
	bearer      = cat("Authorization: Bearer ", "mF_9.B5f-4.1JqM-Qz7")
)

// mustMask has a text, and the part of it that must be gone.
var mustMask = []struct{ name, text, secret, rule string }{
	{"aws id", "key " + awsID + " here", awsID, "aws-access-key"},
	{"aws id temporary", cat("AS", "IA", "Y34FZKBOKMUTVV7A"), "Y34FZKBOKMUTVV7A", "aws-access-key"},
	{"aws id inside a word", "x" + awsID, awsID, "aws-access-key"},
	{"aws secret named", "aws_secret_access_key = " + awsSecret, awsSecret, "assigned-secret"},
	{"aws secret env", "export AWS_SECRET_ACCESS_KEY=" + awsSecret, awsSecret, "assigned-secret"},
	{"aws secret in csv", "bob," + awsID + "," + awsSecret + "\n", awsSecret, "aws-secret-key"},
	{"aws secret before the id", awsSecret + " " + awsID, awsSecret, "aws-secret-key"},
	{"github classic", "git clone https://x-access-token:" + ghp + "@github.com/o/r", ghp, "github-token"},
	{"github alone", "use " + ghp, ghp, "github-token"},
	{"github oauth", "o" + "gh" + "o_" + "16C7e42F292c6912E7710c838347Ae178B4a", "16C7e42F292c6912E7710c838347Ae178B4a", "github-token"},
	{"github fine", "token " + ghFine + ".", ghFine, "github-fine-grained-token"},
	{"gitlab", "PRIVATE-TOKEN: " + gitlab, gitlab, "gitlab-token"},
	{"gitlab in prose", "it is " + gitlab + ".", gitlab, "gitlab-token"},
	{"slack", "say " + slackBot, slackBot, "slack-token"},
	{"slack app", "xa" + "pp-1-A012ABCDEFG-1234567890123-0123456789abcdef", "A012ABCDEFG-1234567890123", "slack-token"},
	{"slack webhook", "post to " + slackHook + " now", "T01ABCDEF/B01GHIJKL/", "slack-webhook"},
	{"xml property with a value, escaped", `<property name=\"password\">\n  <value>Tr0ub4dor99</value>\n</property>`, "Tr0ub4dor99", "password"},
	{"xml value below a name", `<DbPassword key="main"><value type="text">Tr0ub4dor99</value></DbPassword>`, "Tr0ub4dor99", "password"},
	{"xml namespaces", `<b:property name="password"><b:value>Tr0ub4dor99</b:value></b:property>`, "Tr0ub4dor99", "password"},
	{"xml cdata", "<s:password> <![CDATA[Tr0ub4dor>99]]> </s:password>", "Tr0ub4dor>99", "password"},
	{"short password in a connection string", "Server=db;User Id=sa;Password=abc12;", "abc12", "password"},
	{"slack webhook escaped", strings.ReplaceAll(slackHook, "/", `\/`), "aBcDeFgHiJkLmNoPqRsTuVwX", "slack-webhook"},
	{"stripe live", "stripe.Key = \"" + stripeLive + `"`, stripeLive, "stripe-key"},
	{"stripe restricted", stripeTest, stripeTest, "stripe-key"},
	{"stripe webhook", stripeHook, stripeHook, "stripe-key"},
	{"openai", "with " + openAI, openAI, "openai-key"},
	{"openai project", "(" + openAIProj + ")", openAIProj, "openai-key"},
	{"anthropic", "x-api-key: " + anthropic, anthropic, "anthropic-key"},
	{"anthropic alone", "use " + anthropic, anthropic, "anthropic-key"},
	{"google", "?key=" + google + "&x", google, "google-api-key"},
	{"npm", "//registry.npmjs.org/:_authToken=" + npm, npm, "npm-token"},
	{"npm alone", npm, npm, "npm-token"},
	{"jwt", "cookie " + jwt, jwt, "jwt"},
	{"jwt cut", jwt[:60], jwt[20:60], "jwt"},
	{"jwt behind an escape", "?token%3D" + jwt, jwt, "jwt"},
	{"pem", "key:\n" + pem + "\nmore", "MzEfYyjiWA4R4", "private-key"},
	{"pem cut", pemCut, "MzEfYyjiWA4R4", "private-key"},
	{"pem escaped", strings.ReplaceAll(pem, "\n", `\n`), "MzEfYyjiWA4R4", "private-key"},
	{"pem escaped and cut", strings.ReplaceAll(pemCut, "\n", `\n`), "MzEfYyjiWA4R4", "private-key"},
	{"pem in a diff", "+" + strings.ReplaceAll(pem, "\n", "\n+"), "MzEfYyjiWA4R4", "private-key"},
	{"pem with line numbers", "  1→" + strings.ReplaceAll(pem, "\n", "\n  2→"), "MzEfYyjiWA4R4", "private-key"},
	{"pem in quotes", `"` + strings.ReplaceAll(pemCut, "\n", "\" +\n  \"") + `"`, "MzEfYyjiWA4R4", "private-key"},
	{"url password", "DATABASE_URL=" + urlPassword, "Tr0ub4dor", "url-password"},
	{"url password with slash", "amqp://u:Tr0ub/4dor@mq/v", "Tr0ub/4dor", "url-password"},
	{"url password with at", "amqp://u:Tr0ub@4dor@mq/v", "Tr0ub@4dor", "url-password"},
	{"url without user", "redis://:Tr0ub4dor@cache:6379/0", "Tr0ub4dor", "url-password"},
	{"url escaped", `postgres:\/\/admin:Tr0ub4dor@db\/app`, "Tr0ub4dor", "url-password"},
	{"token in the user's place", "https://0123456789abcdef0123456789abcdef@sentry.example/1", "0123456789abcdef0123456789abcdef", "url-password"},
	{"basic header", "curl -H '" + basic + "' x", "YWRtaW46VHIwdWI0ZG9y", "authorization"},
	{"basic without name", "sent Basic YWRtaW46VHIwdWI0ZG9y", "YWRtaW46VHIwdWI0ZG9y", "basic-auth"},
	{"basic of letters only", "sent Basic dXNlcjpwYXNz", "dXNlcjpwYXNz", "basic-auth"},
	{"bearer header", bearer, "mF_9.B5f-4.1JqM-Qz7", "authorization"},
	{"bearer in code", `headers.set("Authorization", "Bearer mF_9.B5f-4.1JqM-Qz7")`, "mF_9.B5f-4.1JqM-Qz7", "bearer-token"},
	{"bearer small", `authorization: bearer mF_9.B5f-4.1JqM-Qz7`, "mF_9.B5f-4.1JqM-Qz7", "authorization"},
	{"token header", "Authorization: token 0123abcdef0123", "0123abcdef0123", "authorization"},
	{"header in json", `{"Authorization": "Basic YWRtaW46VHIwdWI0ZG9y"}`, "YWRtaW46VHIwdWI0ZG9y", "authorization"},
	{"header in escaped json", `{\"Authorization\": \"Bearer mF_9.B5f-4.1JqM-Qz7\"}`, "mF_9.B5f-4.1JqM-Qz7", "authorization"},
	{"digest header", `Authorization: Digest username="bob", response="6629fae49393a05397450978507c4ef1"`, "6629fae49393a05397450978507c4ef1", "authorization"},
	{"curl user", "curl -u bob:Tr0ub4dor https://x", "Tr0ub4dor", "curl-user"},
	{"curl user glued", "curl -ubob:Tr0ub4dor https://x", "Tr0ub4dor", "curl-user"},
	{"curl user quoted", `curl --user "bob:Tr0ub4dor" https://x`, "Tr0ub4dor", "curl-user"},
	{"curl user weak", "curl -s --user=bob:password https://x", ":password", "curl-user"},

	{"env", "DB_PASSWORD=hunter2\n", "hunter2", "password"},
	{"env word", "DB_PASSWORD=correcthorse\n", "correcthorse", "password"},
	{"env double quotes", `DB_PASSWORD="correct horse"`, "correct horse", "password"},
	{"env single quotes", `SECRET_KEY='django-insecure-#1x'`, "django-insecure-#1x", "assigned-secret"},
	{"env token word", "JWT_SECRET=supersecretvalue", "supersecretvalue", "assigned-secret"},
	{"env punctuation", "ADMIN_PASS=p@ss;w0rd!x(y", "p@ss;w0rd!x(y", "password"},
	{"env export", "export MY_TOKEN=abcdef123456", "abcdef123456", "assigned-secret"},
	{"env in docker", "docker run -e DB_PASS=hunter2x img", "hunter2x", "password"},
	{"env before a command", "PGPASSWORD=hunter2x psql", "hunter2x", "password"},
	{"env in a diff", "+API_KEY=abcdefabcdef", "abcdefabcdef", "assigned-secret"},
	{"env with line number", "     3→API_KEY=abcdefabcdef", "abcdefabcdef", "assigned-secret"},
	{"env powershell", `$env:API_KEY = "k4Jd82jdLs92"`, "k4Jd82jdLs92", "assigned-secret"},
	{"env rails", "SECRET_KEY_BASE=0a1b2c3d4e5f60718293", "0a1b2c3d4e5f60718293", "assigned-secret"},
	{"env suffix", "STRIPE_SECRET_PROD=k4Jd82jdLs92", "k4Jd82jdLs92", "assigned-secret"},
	{"ini", "password=hunter2", "hunter2", "password"},
	{"ini spaces", "password = hunter2\nuser = bob", "hunter2", "password"},
	{"ini word", "[db]\npassword = swordfish\n", "swordfish", "password"},
	{"properties", "spring.datasource.password=Sw0rdfish", "Sw0rdfish", "password"},
	{"yaml", "db:\n  password: hunter2\n", "hunter2", "password"},
	{"yaml word", "db:\n  password: swordfish\n", "swordfish", "password"},
	{"yaml quoted", "  password: 'sword fish'\n", "sword fish", "password"},
	{"yaml key", "api_key: 9f86d081884c7d65", "9f86d081884c7d65", "assigned-secret"},
	{"json", `{"password": "swordfish"}`, "swordfish", "password"},
	{"json escaped", `"{\"client_secret\":\"k4Jd82jdLs92\"}"`, "k4Jd82jdLs92", "assigned-secret"},
	{"json equals escaped", `PASSWORD\u003dhunter2`, "hunter2", "password"},
	{"go", `const apiKey = "k4Jd82jdLs92"`, "k4Jd82jdLs92", "assigned-secret"},
	{"go short", `password := "swordfish"`, "swordfish", "password"},
	{"go typed", `var dbPassword string = "swordfish"`, "swordfish", "password"},
	{"go bytes", `var jwtSecret = []byte("k4Jd82jdLs92")`, "k4Jd82jdLs92", "assigned-secret"},
	{"go raw", "password := `sword\\fish`", "sword\\fish", "password"},
	{"ts", `const authToken: string = 'k4Jd82jdLs92';`, "k4Jd82jdLs92", "assigned-secret"},
	{"ts object", `{ user: "bob", password: "swordfish" }`, "swordfish", "password"},
	{"python", `PASSWORD = "swordfish"`, "swordfish", "password"},
	{"python index", `config["password"] = "swordfish"`, "swordfish", "password"},
	{"python kwargs", `connect(user="bob", password="swordfish")`, "swordfish", "password"},
	{"ruby", `:password => "swordfish"`, "swordfish", "password"},
	{"java", `private static final String PASSWORD = "swordfish";`, "swordfish", "password"},
	{"comparison", `if password == "swordfish" {`, "swordfish", "password"},
	{"connection string", "Server=db;User Id=sa;Password=Sw0rdfish;Encrypt=true", "Sw0rdfish", "password"},
	{"azure", "AccountName=x;AccountKey=Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA==;", "Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA", "assigned-secret"},
	{"query", "GET /x?access_token=k4Jd82jdLs92&y=1", "k4Jd82jdLs92", "assigned-secret"},
	{"header", "X-Api-Key: k4Jd82jdLs92", "k4Jd82jdLs92", "assigned-secret"},
	{"prose", "The API key: k4Jd82jdLs92mx, keep it", "k4Jd82jdLs92mx", "assigned-secret"},
	{"flag", "mysql --password swordfish -u root", "swordfish", "password"},
	{"flag equals", "mysql --password=swordfish -u root", "swordfish", "password"},
	{"flag token", "vault login --token k4Jd82jdLs92", "k4Jd82jdLs92", "assigned-secret"},
	{"flag in a list", `["login", "--password", "sw0rdfish"]`, "sw0rdfish", "password"},
	{"random key", `key: "9fK2mQ7xLw3RtY8vBn4Zc6Hd"`, "9fK2mQ7xLw3RtY8vBn4Zc6Hd", "assigned-secret"},
	{"hex key", `ENCRYPTION_KEY=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08`, "9f86d081884c7d65", "assigned-secret"},
}

// inLines has secrets that the lines tell: the name is a line above, or begins one. In a patch, where
// each line is a string of its own, the former are not found.
var inLines = []struct{ name, text, secret, rule string }{
	{"xml setting with a value", "<setting name=\"DbPassword\" serializeAs=\"String\">\r\n    <value>Tr0ub4dor99</value>\r\n</setting>", "Tr0ub4dor99", "password"},
	{"xml setting with a value, name last", "+<Setting serializeAs='String'\n+  name='DbPassword'>\n+    <Value>\n+      Tr0ub4dor99\n+    </Value>", "Tr0ub4dor99", "password"},
	{"xml cdata", "12  <s:password>\n13    <![CDATA[Tr0ub4dor>99]]>\n14  </s:password>", "Tr0ub4dor>99", "password"},
	{"password before a comment", "password: hunter # staging", "hunter", "password"},
	{"password before blanks", "password: swordfish \t\r\nuser: x", "swordfish", "password"},
}

func TestTextMasks(t *testing.T) {
	for _, tt := range slices.Concat(mustMask, inLines) {
		t.Run(tt.name, func(t *testing.T) {
			got, counts := secrets.Text(tt.text)
			assertGone(t, got, tt.secret)
			if again, _ := secrets.Text(got); again != got || strings.Contains(got, shapes.MaskStart+shapes.MaskStart) {
				t.Errorf("masked twice: %q, then %q", got, again)
			}
			if counts[tt.rule] == 0 {
				t.Errorf("counts = %v, want rule %s\n text %q\n  got %q", counts, tt.rule, tt.text, got)
			}
		})
	}
}

// assertGone fails when got has the secret or eight characters in a row of it.
func assertGone(t *testing.T, got, secret string) {
	t.Helper()
	if len(secret) <= 8 {
		if strings.Contains(got, secret) {
			t.Errorf("%q is still in %q", secret, got)
		}
		return
	}
	for i := 0; i+8 <= len(secret); i++ {
		if part := secret[i : i+8]; strings.Contains(got, part) {
			t.Errorf("%q of the secret is still in %q", part, got)
			return
		}
	}
}

// mustNotMask is code and prose that speaks of secrets and holds none.
var mustNotMask = []string{
	`@JoinColumn(name = keyJoinColumns.name); monkeyJungleGame.start(); surveyJournalEntry.java`,
	`token := parser.Next()`,
	`password string`,
	"type Login struct {\n\tUser string\n\tPassword string `json:\"password\"`\n}",
	`const keyName = "id"`,
	`func (p *Parser) token() Token { return p.tokens[p.pos] }`,
	`for key, value := range m {`,
	`if key == "Enter" { submit() }`,
	`token = tokens[i]`,
	`token.type === "identifier"`,
	`password: string;`,
	"interface Login {\n  password: string\n  token: AuthToken\n}",
	`password = getpass.getpass()`,
	`password=password`,
	`connect(user=user, password=self.password)`,
	`const { token, secret } = await login(user, password);`,
	`password: req.body.password,`,
	`apiKey: process.env.OPENAI_API_KEY,`,
	`api_key=os.environ["OPENAI_API_KEY"]`,
	`api_key = os.getenv("OPENAI_API_KEY")`,
	`secret := os.Getenv("JWT_SECRET")`,
	`API_KEY=${API_KEY}`,
	`PASSWORD=$(cat /run/secrets/db)`,
	`password: ${{ secrets.NPM_TOKEN }}`,
	`password: "{{ .Values.password }}"`,
	`password: <your password>`,
	`token: "<token>"`,
	`"password": "********"`,
	`API_KEY=your-api-key-here`,
	`"tokens": 4096, "max_tokens": 1024`,
	`max_tokens=4096`,
	`"token_type": "Bearer"`,
	`tokenUrl: "https://example.org/oauth/token"`,
	`secretName: my-tls-secret`,
	`primaryKey: "user_id"`,
	`<li key="user-list-item">`,
	`key={item.id}`,
	`cacheKey := "user:" + id`,
	`localStorage.getItem("auth-token")`,
	`cookie = "session-token"`,
	`TOKEN_COOKIE = "auth-token"`,
	`csrfToken: "csrf-token"`,
	`throw new Error("Invalid password: must be at least 8 characters")`,
	`password: "Enter your password"`,
	`label: "API key", placeholder: "Paste your API key"`,
	`type="password" name="password" id="password"`,
	`assert.Equal(t, "password", field.Name)`,
	`Bearer token authentication is required`,
	`Authorization: Bearer ${token}`,
	`Authorization: Bearer <token>`,
	"headers: { Authorization: `Bearer ${token}` }",
	`req.Header.Set("Authorization", "Bearer "+token)`,
	`the Authorization header must be set`,
	`Authorization: the caller must be an admin`,
	`Basic authentication and basic functionality`,
	`Basic usage: see below`,
	`http://localhost:8080/path@v2`,
	`https://pkg.go.dev/golang.org/x/tools@v0.50.0/go/analysis`,
	`git@github.com:owner/repository.git`,
	`ssh://git@github.com/owner/repository.git`,
	`postgres://${USER}:${PASSWORD}@localhost/db`,
	`mailto:someone@example.org`,
	`docker run -u 1000:1000 image`,
	`chown -R user:group /srv`,
	`<div class="sk-toggleable__label sk-estimator-doc-link">`,
	`task-runner-for-everything-that-is-slow`,
	`disk-usage-report-2024-01-01-final-version`,
	`npm_config_registry=https://registry.example`,
	`npm_package_name`,
	`sk_live_ and sk_test_ are prefixes`,
	`ghp_ is the prefix of classic tokens, github_pat_ of fine-grained ones`,
	`strings.HasPrefix(key, "AKIA")`,
	`strings.Contains(text, "-----BEGIN RSA PRIVATE KEY-----")`,
	`-----BEGIN CERTIFICATE-----` + "\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n" + `-----END CERTIFICATE-----`,
	`-----BEGIN PUBLIC KEY-----` + "\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAu1SU1LfVLPHCozMxH2Mo\n" + `-----END PUBLIC KEY-----`,
	`ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7 bob@host`,
	`commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b`,
	`sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08`,
	`integrity: "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg=="`,
	`golang.org/x/mod v0.17.0 h1:zY54UmvipHiNd+pm+m0x9KhZ9hl1/7QNMyxXbc6ICqA=`,
	`case token.IDENT, token.INT:`,
	`std::map<Key, Value> cache; auto key = cache.begin()->first;`,
	`def authenticate(username: str, password: str) -> Token:`,
	`password: Optional[str] = None`,
	`token: str = Field(..., description="the access token")`,
	`PasswordHash string`,
	`passwordResetUrl = "/account/reset"`,
	`keyboard: "qwerty-layout", monkey: "george"`,
	`keys := make([]string, 0, len(m))`,
	`private readonly secret: SecretService;`,
	`secret: kubernetes.io/service-account-token`,
	`credentials: "include"`,
	`credentials: 'same-origin'`,
	`author = "somebody"`,
	`pass: true, fail: false`,
	`2 passed, 1 failed: TestToken`,
	`bypass: "never"`,
	`FAIL: TestPassword (0.00s)`,
	`ok  	claudemem/token	0.123s`,
	`token_count = 128000`,
	`"session_id": "fd7825f3-13d0-45c8-afca-1deaafb35d2e"`,
	`"tool_use_id": "toolu_01A09q90qw90lq917835lq9"`,
	`KEY_ENTER = 13`,
	`KeyError: 'name'`,
	`Accept-Encoding: gzip`,
	`sort_key: created_at`,
	`i18nKey="settings.profile.title"`,
	`export const TOKEN_KEY = 'access_token'`,
	`"scripts": {"test": "vitest run"}`,
	`# password: see the vault`,
	`the password is stored hashed, and the token: opaque`,
	`docs: explain how the secret: scanner works`,
	`s.onceSetNextProtoDefaults()`,
	`if !s.ReadUint16LengthPrefixed(&extensions) {`,
	`API-DOCS-AND-REFERENCE, A3-PAPER, SKILL.md, ASK-AGAIN, EAAA`,
	`sc_desc_ext_auth_test_live_class_names.go`,
	`see pat.go and sat.go, sl.Add, pk.String, t1.Sub(t2), v1.0-beta.2`,
	`test_da39a3ee5e6b4b0d3255bfef95601890afd80709`,
	`[redacted:password]`,
	`password=[redacted:password]`,
	`Authorization: Bearer [redacted:authorization]`,
	`postgres://u:[redacted:url-password]@h/db`,
}

// TestPrivateKeyEndsAtTheNextBegin checks that a PEM block without END ends where the
// next one begins, in any letter case, and that text about keys is masked nowhere.
func TestPrivateKeyEndsAtTheNextBegin(t *testing.T) {
	for _, begin := range []string{"-----BEGIN ", "-----begin ", "-----Begin "} {
		text := pemCut + "\n" + begin + "public key-----\nAAAAB3NzaC1yc2E\n-----END PUBLIC KEY-----\n"
		got, _ := secrets.Text(text)
		assertGone(t, got, pemBody)
		if !strings.HasSuffix(got, begin+"public key-----\nAAAAB3NzaC1yc2E\n-----END PUBLIC KEY-----\n") {
			t.Errorf("%s: the block after the key is masked too: %q", begin, got)
		}
	}
	prose := cat("-----BEGIN ", "PRIVATE KEY-----") + strings.Repeat(" a word", tokens.MaxPEM/7+1)
	if got, _ := secrets.Text(prose + " abcdefghijklmnopqrstuvwx"); strings.Contains(got, shapes.MaskStart) {
		t.Errorf("%d bytes of prose were taken for a key", len(prose))
	}
	long := cat("-----begin ", "private key-----\n") + strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n", tokens.MaxPEM/32)
	if got, _ := secrets.Text(long); got != shapes.Mask("private-key") {
		t.Errorf("%d bytes are left of a key of over %d", len(got), tokens.MaxPEM)
	}
}

func TestTextLeavesCodeAlone(t *testing.T) {
	for _, text := range mustNotMask {
		if got, counts := secrets.Text(text); got != text || counts != nil {
			t.Errorf("secrets.Text(%q)\n got %q %v", text, got, counts)
		}
		if got := tags.Strip(text); got != text && !strings.Contains(text, "<private") {
			t.Errorf("tags.Strip(%q) = %q", text, got)
		}
	}
}
