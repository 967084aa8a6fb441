// Package tokens finds the secrets that tell by themselves what they are: the tokens of
// vendors by their prefix ([Kinds]), web tokens, private keys, and what stands behind words
// as "htpasswd -b". It also knows the names of vendors; what is assigned to a name is
// package assign's.
//
// Place in the flow: after package assign, over package shapes.
package tokens

import "strings"

// A Kind is a form of token that vendors hand out, or several forms of the same
// vendor. The table below is the only place where one is written down: the
// hook finds those with Prefixes, and those with Names before an operator, in the host's
// time; package redact/rules finds those that are Near, and Names
// farther away, in the worker's.
//
// The facts (prefixes, alphabets, lengths, names near a token) were collected
// from the rules of gitleaks (MIT, see NOTICE) and from vendors' documentation;
// redact/judge holds the table to gitleaks' own detector.
type Kind struct {
	// Rule names the kind in a mask and in counts.
	Rule string
	// Prefixes are what a token begins with, separated by spaces; or the words behind which
	// a secret stands, separated by '|'.
	Prefixes string
	// Body says of words where the secret is (secretToldBy). Otherwise it is what follows
	// the prefix, or the whole token where there is none: forms, separated by spaces, of
	// literal text and runs {CLASS COUNT}. A class is one letter:
	//
	//	d  0-9                  h  0-9 a-f             x  0-9 a-f A-F
	//	u  0-9 A-Z              l  a-z A-Z             n  0-9 a-z A-Z
	//	w  n _ -                e  n _ - =             t  n _ - = .
	//	i  n _ - .              k  n _ - = . ~ + /     b  n + / =
	//	j  n _ - + / \ and line breaks                 p  n _ - . / @ %
	//	s  all but blanks
	//
	// and a count is 32 (exactly), 20-40 or 16+. A form that ends in a run without
	// a bound ends where the run does; any other must be followed by a byte that
	// could not continue it.
	Body string
	// Names are words of which one begins the name that the token is assigned to.
	Names string
	// Entropy is what a token must exceed, in tenths of a bit per byte.
	Entropy byte
	Flags   KindFlags
}

// KindFlags say what else holds for the tokens of a kind.
type KindFlags byte

const (
	// InWord tokens may have a letter or a digit before them.
	InWord KindFlags = 1 << iota
	// AnyCase prefixes are found in capitals and small letters.
	AnyCase
	// NotWordy tokens must not read like words: their prefix, or the word near them, is
	// used for names too.
	NotWordy
	// LongName names have more words behind those of Names.
	LongName
	// Quoted tokens fill a string in quotes.
	Quoted
	// Alone tokens must be followed by a blank, a quote, a ';' or the end.
	Alone
	// Near tokens have one of Names within 256 bytes; it need not be assigned to them.
	Near
	// Preceded tokens have a form of fixed length before the prefix, the first of Body.
	Preceded
)

// Phrase reports whether Prefixes are words that tell that a secret follows; Body then says
// where (secretToldBy).
func (k *Kind) Phrase() bool { return strings.HasPrefix(k.Body, "@") || strings.HasPrefix(k.Body, "!") }

// Forms returns the form that stands before the prefix, "" for none, and those of Body
// behind it.
func (k *Kind) Forms() (before, body string) {
	if k.Flags&Preceded == 0 {
		return "", k.Body
	}
	before, body, _ = strings.Cut(k.Body, " ")
	return before, body
}

// pemBase64 is base64 of "-----BEGIN", as far as the byte after it does not matter.
const pemBase64 = "LS0tLS1CRUdJTiB"

const uuid = "{x8}-{x4}-{x4}-{x4}-{x12}"

// Kinds is the table. Where two kinds have the same beginning, the first wins.
var Kinds = [...]Kind{
	// Tokens that their prefix tells.
	{Rule: RuleAWSKey, Prefixes: "AKIA ASIA ABIA ACCA", Body: "{u16+}", Flags: InWord},
	{Rule: RuleAWSKey, Prefixes: "A3T", Body: "{u17+}", Flags: InWord},
	{Rule: "aws-bedrock-key", Prefixes: "ABSK", Body: "{b109+}"},
	{Rule: "aws-bedrock-key", Prefixes: "bedrock-api-key-", Body: "{b20+}", Flags: InWord},
	{Rule: "github-token", Prefixes: "ghp_ gho_ ghu_ ghs_ ghr_", Body: "{n16+}", Flags: InWord},
	{Rule: "github-fine-grained-token", Prefixes: "github_pat_", Body: "{w15+}", Flags: InWord},
	{Rule: "gitlab-token", Prefixes: "glpat- gldt- glrt- glptt- gloas- glsoat- glcbt- glimt- glagent- glft- glffct-", Body: "{i16+}", Flags: InWord},
	{Rule: "gitlab-token", Prefixes: "GR1348941", Body: "{w20+}", Flags: InWord},
	{Rule: "gitlab-session", Prefixes: "_gitlab_session=", Body: "{n32+}", Flags: InWord},
	{Rule: "slack-token", Prefixes: "xoxe.xoxb- xoxe.xoxp-", Body: "{b100+} {d1}-{b100+}"},
	{Rule: "slack-token", Prefixes: "xoxd-", Body: "{p40+}"},
	{Rule: "slack-token", Prefixes: "xoxb- xoxa- xoxp- xoxr- xoxs- xoxe- xoxc- xoxd- xoxo- xapp-", Body: "{w7+}", Flags: InWord},
	{Rule: "slack-token", Prefixes: "xoxe-", Body: "{d1}-{n146+}", Flags: InWord | AnyCase},
	{Rule: "slack-token", Prefixes: "xoxb- xoxp-", Body: "{d1}-{n163+}", Flags: InWord | AnyCase},
	{Rule: "slack-token", Prefixes: "xapp-", Body: "{d1}-{n1+}-{d1+}-{n1+}", Flags: InWord | AnyCase},
	{Rule: "stripe-key", Prefixes: "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_", Body: "{n8+}"},
	{Rule: "stripe-key", Prefixes: "whsec_", Body: "{b16+}", Flags: InWord},
	{Rule: "anthropic-key", Prefixes: "sk-ant-", Body: "{w8+}"},
	{Rule: "openai-key", Prefixes: "sk-proj- sk-svcacct- sk-admin- sk-or-v1-", Body: "{w8+}", Flags: NotWordy},
	{Rule: "openai-key", Prefixes: "sk-", Body: "{w20+}", Flags: NotWordy}, // style sheets have classes like sk-toggleable__label
	{Rule: "google-api-key", Prefixes: "AIza", Body: "{w30+}", Flags: InWord},
	{Rule: "google-api-key", Prefixes: "GOCSPX-", Body: "{w20+}", Flags: InWord},
	{Rule: "npm-token", Prefixes: "npm_", Body: "{n20+}", Flags: InWord},
	{Rule: "npm-token", Prefixes: "npm_", Body: "{n36}", Flags: AnyCase},
	{Rule: "1password-key", Prefixes: "A3-", Body: "{u6}-{u11}-{u5}-{u5}-{u5} {u6}-{u6}-{u5}-{u5}-{u5}-{u5}"},
	{Rule: "1password-token", Prefixes: "ops_eyJ", Body: "{b250+}", Flags: InWord},
	{Rule: "adobe-secret", Prefixes: "p8e-", Body: "{n32}"},
	{Rule: "age-key", Prefixes: "AGE-SECRET-KEY-1", Body: "{u58+}", Flags: InWord},
	{Rule: "alibaba-key", Prefixes: "LTAI", Body: "{n20}"},
	{Rule: "artifactory-key", Prefixes: "AKCp", Body: "{n69}"},
	{Rule: "artifactory-token", Prefixes: "cmVmd", Body: "{n59}", Entropy: 45},
	{Rule: "atlassian-token", Prefixes: "ATATT3 ATCTT3", Body: "{e20+}"},
	{Rule: "bitbucket-password", Prefixes: "ATBB", Body: "{n28-36}"},
	{Rule: "trello-token", Prefixes: "ATTA", Body: "{x64}"},
	{Rule: "authress-key", Prefixes: "sc_ ext_ scauth_ authress_", Body: "{n5-30}.{n4-6}.acc_{w10-32}.{k30+} {n5-30}.{n4-6}.acc-{w10-32}.{k30+}"},
	{Rule: "azure-secret", Prefixes: "Q~", Body: "{k3}{d1} {k30+}", Flags: Preceded},
	{Rule: "clickhouse-key", Prefixes: "4b1d", Body: "{n38}"},
	{Rule: "clojars-token", Prefixes: "CLOJARS_", Body: "{n60+}", Flags: InWord | AnyCase},
	{Rule: "cloudflare-origin-key", Prefixes: "v1.0-", Body: "{h24}-{h146+}"},
	{Rule: "databricks-token", Prefixes: "dapi", Body: "{h32}-{d1} {h32}"},
	{Rule: "defined-networking-token", Prefixes: "dnkey-", Body: "{e26}-{e52+}", Flags: AnyCase},
	{Rule: "digitalocean-token", Prefixes: "doo_v1_ dop_v1_ dor_v1_", Body: "{x64+}", Flags: AnyCase},
	{Rule: "docker-token", Prefixes: "dckr_pat_ dckr_oat_", Body: "{w24+}", Flags: InWord},
	{Rule: "doppler-token", Prefixes: "dp.pt. dp.ct. dp.st. dp.sa. dp.said. dp.scim. dp.audit.", Body: "{n40+} {w2-35}.{n40+}", Flags: InWord},
	{Rule: "dropbox-token", Prefixes: "sl.", Body: "{e135+}", Flags: AnyCase},
	{Rule: "duffel-token", Prefixes: "duffel_test_ duffel_live_", Body: "{e43+}", Flags: InWord},
	{Rule: "dynatrace-token", Prefixes: "dt0c01.", Body: "{n24}.{n64+}", Flags: InWord},
	{Rule: "easypost-key", Prefixes: "EZAK EZTK", Body: "{n54+}"},
	{Rule: "facebook-token", Prefixes: "EAAM EAAC EAAB EAAG", Body: "{n100+}"},
	{Rule: "flutterwave-key", Prefixes: "FLWSECK-", Body: "{x32}-X"},
	{Rule: "flutterwave-key", Prefixes: "FLWSECK_TEST- FLWPUBK_TEST-", Body: "{w12+}", Flags: InWord},
	{Rule: "flyio-token", Prefixes: "fo1_ fm1a_ fm1r_ fm2_", Body: "{w43+} {b100+}"},
	{Rule: "frameio-token", Prefixes: "fio-u-", Body: "{e64+}", Flags: InWord},
	{Rule: "grafana-key", Prefixes: "eyJrIjoi", Body: "{b70+}", Flags: AnyCase},
	{Rule: "grafana-token", Prefixes: "glc_", Body: "{b32+}", Flags: AnyCase},
	{Rule: "grafana-token", Prefixes: "glsa_", Body: "{n32}_{x8}", Flags: AnyCase},
	{Rule: "groq-key", Prefixes: "gsk_", Body: "{n32+}", Flags: InWord},
	{Rule: "harness-key", Prefixes: "pat. sat.", Body: "{w22}.{n24}.{n20+}", Flags: InWord},
	{Rule: "heroku-key", Prefixes: "HRKU-AA", Body: "{w58+}"},
	{Rule: "huggingface-token", Prefixes: "hf_", Body: "{n30+}", Flags: InWord | NotWordy},
	{Rule: "huggingface-token", Prefixes: "hf_ api_org_", Body: "{l34}"},
	{Rule: "infracost-token", Prefixes: "ico-", Body: "{n32}"},
	{Rule: "intra42-secret", Prefixes: "s-s4t2ud- s-s4t2af-", Body: "{x64}"},
	{Rule: "jwt-base64", Prefixes: "ZXlK", Body: "{j40+}"},
	{Rule: "linear-key", Prefixes: "lin_api_ lin_oauth_", Body: "{n40+}", Flags: InWord},
	{Rule: "lob-key", Prefixes: "live_ test_ live_pub_ test_pub_", Body: "{x35} {x31}", Flags: AnyCase},
	{Rule: "mapbox-token", Prefixes: "pk.", Body: "{n60}.{n22}", Flags: AnyCase},
	{Rule: "maxmind-key", Prefixes: "_mmk", Body: "{n6}_{n29}", Flags: Preceded},
	{Rule: "newrelic-key", Prefixes: "NRJS- NRII- NRAK-", Body: "{x19} {w32} {n27}", Flags: AnyCase},
	{Rule: "notion-token", Prefixes: "ntn_", Body: "{d11}{n35+}"},
	{Rule: "notion-token", Prefixes: "secret_ secret-", Body: "{n43}", Flags: NotWordy},
	{Rule: "octopus-key", Prefixes: "API-", Body: "{u26-36}"},
	{Rule: "openshift-token", Prefixes: "sha256~", Body: "{w43}"},
	{Rule: "perplexity-key", Prefixes: "pplx-", Body: "{n48+}"},
	{Rule: "plaid-token", Prefixes: "access-sandbox- access-development- access-production-", Body: uuid, Flags: AnyCase},
	{Rule: "planetscale-token", Prefixes: "pscale_tkn_ pscale_oauth_ pscale_pw_", Body: "{t32+}", Flags: AnyCase},
	{Rule: "postman-token", Prefixes: "PMAK-", Body: "{x24}-{x34}"},
	{Rule: "prefect-token", Prefixes: "pnu_", Body: "{n36}"},
	{Rule: "pulumi-token", Prefixes: "pul-", Body: "{h40}"},
	{Rule: "pypi-token", Prefixes: "pypi-", Body: "{w50+}", Flags: InWord},
	{Rule: "readme-token", Prefixes: "rdme_", Body: "{n70}"},
	{Rule: "rubygems-token", Prefixes: "rubygems_", Body: "{h48}"},
	{Rule: "scalingo-token", Prefixes: "tk-us-", Body: "{w48+}"},
	{Rule: "sendgrid-token", Prefixes: "SG.", Body: "{t60+}"},
	{Rule: "sendinblue-token", Prefixes: "xkeysib-", Body: "{h64}-{n16}"},
	{Rule: "sentry-token", Prefixes: "sntrys_eyJ", Body: "{b20+}_{b43+}"},
	{Rule: "sentry-token", Prefixes: "sntryu_", Body: "{h64}"},
	{Rule: "settlemint-token", Prefixes: "sm_aat_ sm_pat_ sm_sat_", Body: "{n16}"},
	{Rule: "shippo-token", Prefixes: "shippo_live_ shippo_test_", Body: "{x40}"},
	{Rule: "shopify-token", Prefixes: "shpat_", Body: "{w24+}", Flags: InWord},
	{Rule: "shopify-token", Prefixes: "shpca_ shppa_ shpss_ shpua_ shptka_", Body: "{x32+}", Flags: InWord},
	{Rule: "sonar-token", Prefixes: "squ_ sqp_ sqa_", Body: "{e40}", Flags: AnyCase},
	{Rule: "sourcegraph-token", Prefixes: "sgp_", Body: "{x16}_{x40} local_{x40} {x40}", Flags: AnyCase},
	{Rule: "square-token", Prefixes: "sq0atp- sq0csp-", Body: "{w22-60}"},
	{Rule: "square-token", Prefixes: "EAAA", Body: "{w22-60}", Entropy: 20},
	{Rule: RuleSlackWebhook, Prefixes: "hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/", Body: "{k40+}", Flags: InWord},
	{Rule: "teams-webhook", Prefixes: "webhook.office.com/webhookb2/", Body: "{p60+}", Flags: InWord},
	{Rule: "terraform-token", Prefixes: ".atlasv1.", Body: "{n14} {e60+}", Flags: InWord | Preceded},
	{Rule: "twilio-key", Prefixes: "SK", Body: "{x32+}", Flags: InWord},
	{Rule: "typeform-token", Prefixes: "tfp_", Body: "{t58+}", Flags: AnyCase},
	{Rule: "vault-token", Prefixes: "hvs. hvb. hvr.", Body: "{w22+}"},
	{Rule: "vault-token", Prefixes: "s.", Body: "{n24}", Entropy: 35, Flags: Alone},
	{Rule: "yandex-token", Prefixes: "t1.", Body: "{e1+}.{e86+}", Flags: AnyCase},
	{Rule: rulePrivateKey, Prefixes: pemBase64 + "QUklWQVRF " + pemBase64 + "SU0EgUFJJ " + pemBase64 + "FQyBQUklW " + pemBase64 + "EU0EgUFJJ " + pemBase64 + "PUEVOU1NI " + pemBase64 + "FTkNSWVBU " + pemBase64 + "QR1AgUFJJ", Body: "{j40+}", Flags: InWord},
	{Rule: "anyscale-key", Prefixes: "esecret_", Body: "{n20+}", Flags: NotWordy},
	{Rule: "apify-token", Prefixes: "apify_api_", Body: "{n30+}"},
	{Rule: "aws-session-token", Prefixes: "IQoJb3JpZ2lu FwoGZXIvYXdz", Body: "{b50+}"},
	{Rule: "azure-key", Prefixes: "JQQJ99", Body: "{n52} {n20+}", Flags: InWord | Preceded},
	{Rule: "azure-devops-token", Prefixes: "AZDO", Body: "{n76} {n4}", Flags: InWord | Preceded},
	{Rule: "buildkite-token", Prefixes: "bkua_ bkct_ bkpt_ bkps_", Body: "{x40+}"},
	{Rule: "cerebras-key", Prefixes: "csk-", Body: "{n40+}", Flags: NotWordy},
	{Rule: "circleci-token", Prefixes: "CCIPAT_ CCIPRJ_", Body: "{w40+}"},
	{Rule: "clickup-token", Prefixes: "pk_", Body: "{d5-10}_{u32}"},
	{Rule: "contentful-token", Prefixes: "CFPAT-", Body: "{w40+}"},
	{Rule: "dbt-token", Prefixes: "dbtc_ dbtu_", Body: "{w30+}", Flags: NotWordy},
	{Rule: "discord-token", Prefixes: "MT Mj Mz ND NT Nj Nz OD OT", Body: "{w22-26}.{w6-7}.{w27-38}", Entropy: 35, Flags: NotWordy},
	{Rule: "e2b-key", Prefixes: "e2b_", Body: "{x40}"},
	{Rule: "elevenlabs-key", Prefixes: "sk_", Body: "{x48}"},
	{Rule: "figma-token", Prefixes: "figd_ figo_ figu_", Body: "{w30+}", Flags: NotWordy},
	{Rule: "firebase-key", Prefixes: ":APA91b", Body: "{w11} {w100+}", Flags: InWord | Preceded},
	{Rule: "firecrawl-key", Prefixes: "fc-", Body: "{h32}"},
	{Rule: "fireworks-key", Prefixes: "fw_", Body: "{n22-24}", Flags: NotWordy},
	{Rule: "google-token", Prefixes: "ya29.", Body: "{i20+}", Flags: NotWordy},
	{Rule: "honeycomb-key", Prefixes: "hcaik_ hcalk_ hcamk_", Body: "{n50+}"},
	{Rule: "hubspot-token", Prefixes: "pat-na1- pat-na2- pat-eu1-", Body: uuid},
	{Rule: "instagram-token", Prefixes: "IGQV IGAA", Body: "{w100+}"},
	{Rule: "jina-key", Prefixes: "jina_", Body: "{w40+}", Flags: NotWordy},
	{Rule: "langsmith-key", Prefixes: "lsv2_pt_ lsv2_sk_", Body: "{w32+}"},
	{Rule: "launchdarkly-key", Prefixes: "sdk- mob- api-", Body: uuid},
	{Rule: "llamacloud-key", Prefixes: "llx-", Body: "{n40+}", Flags: NotWordy},
	{Rule: "mailgun-key", Prefixes: "key-", Body: "{h32}"},
	{Rule: "mapbox-token", Prefixes: "sk.eyJ", Body: "{w40+}.{w20+}"},
	{Rule: "neon-key", Prefixes: "napi_", Body: "{n60+}"},
	{Rule: "netlify-token", Prefixes: "nfp_ nfc_ nfo_ nfu_", Body: "{n36+}"},
	{Rule: "newrelic-key", Prefixes: "NRAL", Body: "{x36}", Flags: Preceded},
	{Rule: "nvidia-key", Prefixes: "nvapi-", Body: "{w50+}"},
	{Rule: "onesignal-key", Prefixes: "os_v2_app_ os_v2_org_", Body: "{n80+}"},
	{Rule: "packagist-token", Prefixes: "packagist_", Body: "{w40+}", Flags: NotWordy},
	{Rule: "paypal-token", Prefixes: "access_token$production$ access_token$sandbox$", Body: "{n16}${x32}"},
	{Rule: "pinecone-key", Prefixes: "pcsk_", Body: "{w40+}", Flags: NotWordy},
	{Rule: "polar-token", Prefixes: "polar_oat_ polar_pat_", Body: "{n40+}"},
	{Rule: "posthog-key", Prefixes: "phx_", Body: "{n40+}"},
	{Rule: "razorpay-key", Prefixes: "rzp_live_ rzp_test_", Body: "{n14}"},
	{Rule: "render-key", Prefixes: "rnd_", Body: "{n28+}", Flags: NotWordy},
	{Rule: "replicate-token", Prefixes: "r8_", Body: "{n37+}"},
	{Rule: "resend-key", Prefixes: "re_", Body: "{n8}_{n24}"},
	{Rule: "runpod-key", Prefixes: "rpa_", Body: "{u36+}"},
	{Rule: "stytch-secret", Prefixes: "secret-live- secret-test-", Body: "{w30+}", Flags: NotWordy},
	{Rule: "supabase-token", Prefixes: "sbp_", Body: "{w40+}"},
	{Rule: "supabase-token", Prefixes: "sb_secret_", Body: "{w20+}", Flags: NotWordy},
	{Rule: "tailscale-key", Prefixes: "tskey-", Body: "{w20+}", Flags: NotWordy},
	{Rule: "tavily-key", Prefixes: "tvly-", Body: "{w28+}", Flags: NotWordy},
	{Rule: "telegram-token", Prefixes: ":AA", Body: "{d8} {w33}", Flags: InWord | Preceded},
	{Rule: "tencent-key", Prefixes: "AKID", Body: "{n32}"},
	{Rule: "together-key", Prefixes: "tgp_v1_", Body: "{w40+}"},
	{Rule: "trigger-key", Prefixes: "tr_dev_ tr_stg_ tr_prod_ tr_preview_", Body: "{n20+}", Flags: NotWordy},
	{Rule: "vercel-token", Prefixes: "vercel_blob_rw_", Body: "{n16}_{n30}"},
	{Rule: "voyage-key", Prefixes: "pa-", Body: "{w43}", Flags: NotWordy},
	{Rule: "xai-key", Prefixes: "xai-", Body: "{n70+}"},

	// Tokens of several vendors with one form; Prefixed finds those with a long mixed
	// tail without an entry.
	{Rule: ruleAPIKey, Prefixes: "sk_", Body: "{w32+}", Flags: NotWordy},
	{Rule: ruleAPIKey, Prefixes: "sk_car_ bb_live_ bb_test_ fk- rt_", Body: "{w22+}", Flags: NotWordy},
	{Rule: ruleAPIKey, Prefixes: "mdb_sa_sk_ pdl_live_apikey_ pdl_sdbx_apikey_ CCDB1_ retool_ n8n_api_eyJ", Body: "{i40+}", Flags: NotWordy},
	{Rule: ruleAPIKey, Prefixes: "ctx7sk- xaat- xapt-", Body: uuid},
	{Rule: ruleAPIKey, Prefixes: "key_ wk-1. depot_project_ depot_org_ depot_user_ jsrp_ jsrd_", Body: "{h64} {h40}"},
	{Rule: ruleAPIKey, Prefixes: "dkea pk_", Body: "{h32} {h34}"},
	{Rule: ruleAPIKey, Prefixes: "sk-helicone-", Body: "{n7}-{n7}-{n7}-{n7}"},
	{Rule: ruleAPIKey, Prefixes: "sgamp_user_", Body: "{u26}_{h64}"},
	{Rule: ruleAPIKey, Prefixes: "KEY", Body: "{u32}_{n22}"},
	{Rule: ruleAPIKey, Prefixes: "BSA", Body: "{w28}", Flags: NotWordy},
	{Rule: ruleAPIKey, Prefixes: "chpt_", Body: "{n15}"},
	{Rule: "bitwarden-token", Prefixes: "0.", Body: "{x8}-{x4}-{x4}-{x4}-{x12}.{n30}:{b22+}"},
	{Rule: "docker-swarm-token", Prefixes: "SWMTKN-1-", Body: "{n50}-{n25}"},
	{Rule: "google-hmac-id", Prefixes: "GOOG1E", Body: "{u55+}"},
	{Rule: "nats-seed", Prefixes: "SUA SAA SOA SNA SCA", Body: "{u55}"},
	{Rule: "wallet-key", Prefixes: "xprv yprv zprv tprv", Body: "{n100+}"},

	// Words behind or before which a password stands.
	{Rule: RulePassword, Prefixes: "chpasswd", Body: "@:"},
	{Rule: RulePassword, Prefixes: "-stdin|sudo -S ", Body: "@|", Flags: InWord},
	{Rule: RulePassword, Prefixes: "htpasswd -", Body: "@h"},
	{Rule: RulePassword, Prefixes: "sqlplus |thin:", Body: "@/"},
	{Rule: ruleCookie, Prefixes: "cookie:", Body: "@c", Flags: AnyCase | InWord},
	{Rule: RulePassword, Prefixes: "-setcookie |rootpw |bindpw |requirepass |masterauth |PSK |SecureString |--secret-string |/p:|/pass:", Body: "@1", Flags: InWord},
	{Rule: RulePassword, Prefixes: "/user:|wpa_passphrase |ctl add_user |ctl change_password |ctl authenticate_user ", Body: "@2", Flags: InWord},
	{Rule: RulePassword, Prefixes: "http-basic.", Body: "@3"},
	{Rule: RulePassword, Prefixes: "PASS |AUTH PLAIN |AUTH LOGIN |community |login |auth |on >|-w |-N ", Body: "!1"},
	{Rule: RulePassword, Prefixes: "LOGIN |net user |basic_auth ", Body: "!2"},

	// Hashes of passwords.
	{Rule: "password-hash", Prefixes: "$2a$ $2b$ $2y$ $6$ $5$ $1$ $y$ $apr1$ $argon2id$ $argon2i$ pbkdf2_sha256$ pbkdf2:sha256:",
		Body: "{d2}${k53} {k1-20}${k20+} rounds={d1+}${k1-20}${k20+} {k1-8}${k1-24}${k20+} v={d1+}$m={d1+},t={d1+},p={d1+}${k10+}${k16+} {d1+}${k4+}${k20+}", Flags: InWord},

	// Tokens that the name they are assigned to tells.
	{Rule: "gossip-key", Names: "encrypt", Body: "{n2}{k41}= {n2}{k29}= {n2}{k20}=="},
	{Rule: "fal-key", Names: "fal_k fal-k falk", Body: uuid + ":{x32}"},
	{Rule: "adafruit-key", Names: "adafruit", Body: "{w32}"},
	{Rule: "adobe-id", Names: "adobe", Body: "{x32}", Entropy: 20},
	{Rule: "airtable-key", Names: "airtable", Body: "{n17}"},
	{Rule: "algolia-key", Names: "algolia", Body: "{n32}"},
	{Rule: "alibaba-secret", Names: "alibaba", Body: "{n30}", Entropy: 20},
	{Rule: "asana-secret", Names: "asana", Body: "{d16} {n32}"},
	{Rule: "atlassian-token", Names: "atlassian confluence jira", Body: "{n20}{x4}", Entropy: 35},
	{Rule: "beamer-token", Names: "beamer", Body: "b_{e44}"},
	{Rule: "bitbucket-secret", Names: "bitbucket", Body: "{n32} {e64}"},
	{Rule: "bittrex-key", Names: "bittrex", Body: "{n32}"},
	{Rule: "meraki-key", Names: "meraki", Body: "{h40}", Entropy: 30},
	{Rule: "cloudflare-key", Names: "cloudflare", Body: "{w40} {x37}", Entropy: 20},
	{Rule: "codecov-token", Names: "codecov", Body: "{n32}"},
	{Rule: "cohere-token", Names: "cohere co_api_key", Body: "{n40}", Entropy: 40},
	{Rule: "coinbase-token", Names: "coinbase", Body: "{w64}"},
	{Rule: "confluent-secret", Names: "confluent", Body: "{n16} {n64}"},
	{Rule: "contentful-token", Names: "contentful", Body: "{e43}"},
	{Rule: "datadog-token", Names: "datadog", Body: "{n40}"},
	{Rule: "discord-secret", Names: "discord", Body: "{x64} {d18} {e32}"},
	{Rule: "droneci-token", Names: "droneci", Body: "{n32}"},
	{Rule: "dropbox-token", Names: "dropbox", Body: "{n15} {n11}AAAAAAAAAA{e43}"},
	{Rule: "etsy-token", Names: "etsy", Body: "{n24}", Entropy: 30},
	{Rule: "facebook-secret", Names: "facebook", Body: "{x32}", Entropy: 30},
	{Rule: "freemius-key", Names: "secret_key", Body: "sk_{s29}", Flags: Quoted},
	{Rule: "fastly-token", Names: "fastly", Body: "{e32}"},
	{Rule: "finicity-secret", Names: "finicity", Body: "{x32} {n20}"},
	{Rule: "finnhub-token", Names: "finnhub", Body: "{n20}"},
	{Rule: "flickr-token", Names: "flickr", Body: "{n32}"},
	{Rule: "freshbooks-token", Names: "freshbooks", Body: "{n64}"},
	{Rule: "gitter-token", Names: "gitter", Body: "{w40}"},
	{Rule: "gocardless-token", Names: "gocardless", Body: "live_{e40}"},
	{Rule: "heroku-key", Names: "heroku", Body: uuid},
	{Rule: "hubspot-key", Names: "hubspot", Body: uuid},
	{Rule: "intercom-key", Names: "intercom", Body: "{e60}"},
	{Rule: "jfrog-key", Names: "jfrog artifactory bintray xray", Body: "{n73} {n64}"},
	{Rule: "kraken-token", Names: "kraken", Body: "{k80-90}"},
	{Rule: "kucoin-key", Names: "kucoin", Body: "{x24} " + uuid},
	{Rule: "launchdarkly-token", Names: "launchdarkly", Body: "{e40}"},
	{Rule: "linear-secret", Names: "linear", Body: "{x32}", Entropy: 20},
	{Rule: "linkedin-secret", Names: "linkedin linked_in linked-in", Body: "{n14} {n16}", Entropy: 20},
	{Rule: "looker-secret", Names: "looker", Body: "{n20} {n24}"},
	{Rule: "mailchimp-key", Names: "mailchimp", Body: "{x32}-us{d2}", Flags: LongName},
	{Rule: "mailgun-key", Names: "mailgun", Body: "key-{x32} pubkey-{x32} {n32}-{n8}-{n8}"},
	{Rule: "mattermost-token", Names: "mattermost", Body: "{n26}"},
	{Rule: "messagebird-token", Names: "messagebird message_bird message-bird", Body: "{n25} " + uuid},
	{Rule: "netlify-token", Names: "netlify", Body: "{e40-46}"},
	{Rule: "newrelic-id", Names: "newrelic new-relic new_relic", Body: "{n64}"},
	{Rule: "nytimes-token", Names: "nytimes new-york-times new-york-times, newyorktimes", Body: "{e32}"},
	{Rule: "okta-token", Names: "okta", Body: "00{e40}", Entropy: 40},
	{Rule: "plaid-secret", Names: "plaid", Body: "{n24} {n30}", Entropy: 35},
	{Rule: "privateai-token", Names: "privateai private_ai private-ai", Body: "{n32}", Entropy: 30},
	{Rule: "rapidapi-token", Names: "rapidapi", Body: "{w50}"},
	{Rule: "sendbird-token", Names: "sendbird", Body: "{x40} " + uuid},
	{Rule: "sentry-token", Names: "sentry", Body: "{x64}", Entropy: 30},
	{Rule: "sidekiq-secret", Names: "bundle_enterprise__contribsys__com bundle_gems__contribsys__com", Body: "{x8}:{x8}"},
	{Rule: "snyk-token", Names: "snyk", Body: uuid, Flags: LongName},
	{Rule: "sonar-token", Names: "sonarlogin sonartoken sonar.login sonar.token sonar_login sonar_token sonar-login sonar-token", Body: "{e40}"},
	{Rule: "squarespace-token", Names: "squarespace", Body: uuid},
	{Rule: "sumologic-key", Names: "sumo", Body: "su{n12} {n64}", Entropy: 30},
	{Rule: "telegram-token", Names: "telegr", Body: "{d5-16}:A{w34}"},
	{Rule: "terraform-password", Names: "password", Body: "{e8-20}", Entropy: 15, Flags: Quoted},
	{Rule: "travisci-token", Names: "travis", Body: "{n22}"},
	{Rule: "twitch-token", Names: "twitch", Body: "{n30}"},
	{Rule: "twitter-key", Names: "twitter", Body: "{n25} {n45} {n50} {d15-25}-{n20-40} AAAAAAAAAAAAAAAAAAAAAA{p80-100}"},
	{Rule: "yandex-key", Names: "yandex", Body: "AQVN{w35-38} YC{w38}"},
	{Rule: "zendesk-key", Names: "zendesk", Body: "{n40}"},

	// Tokens whose prefix has no byte that is rare in text: the worker alone looks for it.
	{Rule: "confluent-secret", Names: "cflt", Body: "cflt{n60}", Flags: Near},
	{Rule: "databricks-token", Names: "dose", Body: "dose{h32}", Flags: Near},
	{Rule: "wallet-key", Names: "nsec1", Body: "nsec1{n58}", Flags: Near},

	// Tokens that mean something near a word only.
	{Rule: "airtable-token", Names: "airtable", Body: "pat{n14}.{h64}", Flags: Near},
	{Rule: "facebook-token", Names: "facebook", Body: "{d15-16}|{w27-40} {d15-16}%{w27-40}", Entropy: 30, Flags: Near},
	{Rule: "recovery-code", Names: "recovery backup_code backup-code one-time", Body: "{n5}-{n5} {n8}-{n8}", Entropy: 25, Flags: Near | NotWordy},
	{Rule: "sourcegraph-token", Names: "sourcegraph sgp_", Body: "{x40}", Entropy: 30, Flags: Near},
}

// Rules of this package, as they appear in masks and counts.
const (
	RuleAWSKey        = "aws-access-key"
	RuleSlackWebhook  = "slack-webhook"
	rulePrivateKey    = "private-key"
	RuleURLPassword   = "url-password"
	RuleAuthorization = "authorization"
	RulePassword      = "password"
	RuleAssigned      = "assigned-secret"
	ruleAPIKey        = "api-key"
)
