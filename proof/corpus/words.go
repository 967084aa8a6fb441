package corpus

import "strings"

// The lists are in the order of their frequency, roughly; see weighted.

var nouns = strings.Fields(`
test error file request session query cache user value function config data type index database token response state
message server client worker path record result event key name queue column table field list change build version
connection log process model handler timeout batch document project schema buffer hash string number limit order
component page button form route controller service endpoint header body payload parameter argument option setting
flag default environment variable secret password login account role permission policy group team member owner
transaction lock deadlock race retry backoff circuit failure exception panic crash trace stack frame thread task job
scheduler timer clock date timestamp zone interval duration latency throughput memory leak heap garbage collector
pointer reference slice map array object struct class interface method constructor field property attribute
annotation decorator module package import export dependency library framework plugin extension hook callback promise
stream pipe socket channel subscription topic publisher consumer broker message offset partition replica shard
cluster node leader follower election quorum snapshot checkpoint journal log segment page block extent inode directory
folder symlink permission owner archive backup restore migration rollback upgrade downgrade release tag branch commit
merge conflict rebase patch diff review comment issue ticket bug fix workaround regression coverage benchmark profile
metric counter gauge histogram dashboard alert threshold budget quota cost invoice payment refund order cart product
catalogue price discount tax currency rounding customer address shipment warehouse stock supplier contract
subscription plan trial renewal email template notification reminder webhook callback signature certificate
handshake cipher nonce salt fingerprint challenge cookie origin domain subdomain proxy gateway balancer firewall
listener port address interface packet fragment checksum retransmission congestion window bandwidth compression
encoding charset locale translation plural calendar format parser lexer grammar syntax expression operator operand
literal identifier scope closure symbol node tree visitor traversal graph edge cycle path vertex weight matrix vector
embedding dimension cosine distance neighbour cluster centroid sample label feature training inference prompt
completion temperature context window summary observation narrative fact concept timeline memory recall ranking score
relevance weight candidate filter facet suggestion typo synonym stemmer tokenizer stopword fragment passage snippet
highlight excerpt title subtitle heading paragraph sentence word letter glyph font colour theme layout grid margin
padding border shadow animation transition viewport breakpoint sidebar toolbar menu dialog modal tooltip badge avatar
icon image thumbnail upload download attachment preview editor cursor selection clipboard shortcut keyboard mouse
gesture touch scroll focus blur tab accordion carousel slider checkbox dropdown calendar chart axis legend series
export report spreadsheet cell row formula pivot aggregate window join subquery view trigger procedure constraint
uniqueness cascade foreign primary sequence identity rowid vacuum analyse plan optimiser statistics cardinality
selectivity scan seek lookup prefix suffix wildcard pattern regexp group capture boundary escape quote delimiter
separator newline whitespace indentation brace bracket parenthesis semicolon comma colon slash backslash dash
underscore camelcase acronym abbreviation convention guideline style linter formatter compiler linker assembler
bytecode instruction register opcode interrupt signal syscall kernel driver device firmware bus sensor actuator
battery voltage calibration telemetry trajectory orbit simulation particle collision mesh texture shader light camera
sprite tile level player enemy inventory quest dialogue save achievement leaderboard lobby match lag tick prediction
interpolation rollback replay spectator tournament season ladder rating currency loot drop chance balance tuning
inventory pharmacy patient appointment prescription diagnosis laboratory dosage allergy insurance claim clinic ward
teacher lesson classroom grade homework exam curriculum enrolment attendance certificate library loan shelf catalogue
author chapter edition publisher newsletter podcast episode playlist track album lyric recording codec bitrate
container manifest segment subtitle caption transcript speaker microphone echo noise gain reverb equaliser synthesiser
recipe ingredient nutrition calorie portion kitchen oven timer menu table booking guest room hotel flight passenger
luggage gate delay weather forecast humidity pressure storm satellite radar map coordinate projection elevation route
bicycle vehicle engine charger fleet depot driver parking toll traffic junction signal pedestrian tram timetable
election ballot candidate constituency petition statute clause tribunal evidence witness verdict parcel courier
customs tariff freight vessel harbour crane anchor turbine reactor grid substation transformer meter outage
greenhouse irrigation harvest tractor livestock orchard beehive pollen microscope telescope spectrometer specimen
isotope enzyme genome protein antibody vaccine catalyst polymer alloy crystal lattice laser prism diode capacitor
`)

var verbs = strings.Fields(`
add fix use check return run set call change update remove read write fail create load make pass move replace handle
find test store send parse start keep stop skip need wait open close build expect show match support rename cache
validate convert retry log split merge drop count sort filter map group join render wrap extract allow block limit
delete insert select commit lock unlock acquire release flush sync poll push pull fetch queue schedule trigger emit
publish consume subscribe resolve reject throw catch recover restart reload reset clear initialise configure enable
disable register inject mock stub assert compare verify sign encrypt decrypt hash encode decode escape quote trim
normalise truncate pad format print trace profile measure sample estimate predict train rank score boost embed index
search suggest highlight paginate scroll focus select toggle expand collapse hide animate resize align import export
upload download attach detach mount bind listen connect disconnect reconnect authenticate authorise grant revoke
expire renew rotate refresh invalidate evict warm preload defer batch debounce throttle deduplicate compress inflate
archive restore migrate upgrade downgrade deploy ship tag bump pin vendor patch rebase squash cherry-pick bisect
revert document explain annotate review approve refactor simplify inline hoist extract generalise specialise
deprecate introduce propose decide confirm discover notice observe reproduce investigate inspect debug isolate narrow
suspect guess prove avoid prevent guarantee ensure enforce relax tighten round clamp clip interpolate project rotate
scale translate transpose multiply divide accumulate aggregate summarise partition shard replicate elect promote
demote drain hand swap borrow lend allocate free reuse recycle leak overflow underflow wrap starve
`)

var adjectives = strings.Fields(`
new old same first last other empty wrong missing second full single default current next whole local remote long
short small large slow fast stale fresh duplicate unique valid invalid broken flaky nested shared private public
internal external async concurrent parallel sequential atomic durable pending expired active inactive optional
required explicit implicit generic custom static dynamic lazy eager cold warm hot dirty clean safe unsafe strict loose
partial complete exact approximate random stable unstable sorted unsorted binary textual numeric negative positive
relative absolute temporary permanent recent ancient frequent rare trailing leading inner outer upper lower left right
native portable legacy modern experimental deprecated hidden visible readable writable mutable immutable recursive
iterative cyclic orphaned dangling unreachable redundant verbose quiet noisy silent graceful abrupt idle busy
overloaded bounded unbounded adaptive fixed monotonic idempotent deterministic probabilistic heuristic greedy optimal
naive robust brittle subtle obvious surprising misleading ambiguous canonical incremental transitive symmetric sparse
dense shallow deep narrow wide thin fat raw cooked opaque transparent trusted untrusted malformed
`)

var adverbs = strings.Fields(`
now only also already still never always again first later once twice sometimes often usually silently explicitly
directly correctly eventually immediately carefully lazily eagerly twice separately together afterwards instead
accidentally deliberately consistently intermittently
`)

// tools are proper names, common in some projects and absent from others.
var tools = strings.Fields(`
git docker sqlite postgres redis go python node typescript react linux npm make bash curl nginx json yaml http grpc
websocket oauth jwt kafka rabbitmq terraform kubernetes helm prometheus grafana sentry webpack vite eslint prettier
jest pytest mypy django flask fastapi rails sidekiq rspec elixir phoenix rust cargo tokio serde axum java gradle
spring kotlin swift xcode android gradle flutter dart vue svelte angular tailwind graphql apollo prisma drizzle
mysql mongodb elasticsearch opensearch clickhouse duckdb parquet arrow pandas numpy pytorch onnx cuda llama ollama
openai anthropic openrouter bedrock lambda cloudflare fly vercel netlify stripe twilio sendgrid slack figma
`)

var types = []string{"int", "string", "error", "[]byte", "bool", "float64", "context.Context", "time.Duration", "map[string]any", "*http.Request"}

// synonyms: a query that says it in other words takes the other of a pair.
var synonyms = pairs(`
delete remove fix repair error failure file document request call user person value setting function routine start launch
stop halt create make check verify find locate slow sluggish fast quick wrong incorrect empty blank old former new recent
change modify test check database store cache buffer list sequence update refresh return give send transmit login signin
password credential lock mutex crash abort timeout deadline retry repeat limit maximum page screen folder directory
message mail duplicate copy broken defective missing absent config configuration key identifier query search server
backend client frontend job task queue backlog memory ram picture image release version build compilation
`)

func pairs(s string) map[string]string {
	m := map[string]string{}
	words := strings.Fields(s)
	for i := 0; i+1 < len(words); i += 2 {
		if _, ok := m[words[i]]; !ok {
			m[words[i]] = words[i+1]
		}
	}
	return m
}

// concepts are what observations are labelled with.
var concepts = []string{
	"how-it-works", "problem-solution", "gotcha", "what-changed", "why-it-exists", "pattern", "trade-off",
	"performance", "testing", "security", "concurrency", "migration", "error-handling", "api-design", "build", "deployment",
	"data-model", "caching", "observability", "user-interface",
}

var projectNames = strings.Fields(`
claude-mem storefront billing-service ledger ingest-pipeline atlas-maps mobile-app design-system search-api infra
data-warehouse chat-backend auth-gateway game-server compiler-lab notebook-ui photo-sync iot-hub clinic-portal
timetable docs-site cli-tools payments-sdk recommender crawler mail-relay feature-flags video-encoder wiki budget-app
robotics-sim weather-feed audio-mixer library-system voting-kiosk parcel-tracker greenhouse-ctl genome-browser
telemetry-agent form-builder
`)

var folders = strings.Fields(`
src lib internal pkg cmd app api server client core web components hooks store services models handlers routes utils
middleware db migrations queries views templates pages tests fixtures scripts config adapters workers jobs events auth
`)

var extensions = [][]string{
	{".go", "_test.go"}, {".ts", ".test.ts", ".tsx"}, {".py", "_test.py"}, {".rs"}, {".java"}, {".rb", "_spec.rb"}, {".js", ".jsx", ".css"},
}
