package team

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"claudemem/internal/leaf/collect"
	"claudemem/internal/memory"

	"github.com/jackc/pgx/v5/pgconn" // and not pgx itself, which has three times its size
)

//go:embed migrations/*.sql
var migrations embed.FS

//go:embed administrator.sql
var AdministratorSQL string

const (
	// connectLimit bounds a connection's set-up, answerLimit the wait for the answer to a statement.
	connectLimit = 5 * time.Second
	answerLimit  = 30 * time.Second
	// oldestServer is the version of PostgreSQL that is needed.
	oldestServer = 150000
)

// schemaVersion is that of the newest migration.
var schemaVersion = func() int {
	files, _ := migrations.ReadDir("migrations") // it is embedded
	return len(files)
}()

// memberName matches the names of roles that are shown: others could pass for something else.
var memberName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.@-]{0,57}$`)

// parse returns how to connect to an address, with the password from PostgreSQL's usual sources: PGPASSFILE or ~/.pgpass, PGSERVICE,
// PGPASSWORD. Of a server that is not on this machine the certificate is verified. CodeInvalid for an address that has a
// password or asks for less than that.
func parse(address string) (*pgconn.Config, error) {
	plain, err := pgconn.ParseConfig(address)
	if err != nil {
		return nil, memory.Errorf(memory.CodeInvalid, "the address of the team's server cannot be read").WithHint("postgres://NAME@HOST/DATABASE, or service=NAME")
	}
	if hasPassword(address) {
		return nil, memory.Errorf(memory.CodeInvalid, "the address has a password, which process lists and files would show").
			WithHint("put it into ~/.pgpass (HOST:PORT:DATABASE:NAME:PASSWORD, mode 0600), or name another file by PGPASSFILE")
	}
	if !isLocal(plain) && !verifies(plain) {
		if strings.Contains(address, "sslmode") {
			return nil, memory.Errorf(memory.CodeInvalid, "the server is not on this machine: its certificate has to be verified").WithHint("sslmode=verify-full, with sslrootcert=FILE for a certificate authority of your own")
		}
		address += verifyFull(address)
	}
	cfg, err := pgconn.ParseConfig(address)
	if err == nil && !isLocal(cfg) && !verifies(cfg) {
		err = errors.New("not verified")
	}
	if err != nil {
		return nil, memory.Errorf(memory.CodeInvalid, "the server's certificate cannot be verified").WithHint("sslrootcert=FILE names the certificate authority, PGSSLMODE must not ask for less than verify-full")
	}
	cfg.ConnectTimeout = connectLimit
	cfg.RuntimeParams["application_name"] = "claude-mem"
	cfg.RuntimeParams["search_path"] = "pg_catalog"
	return cfg, nil
}

// hasPassword reports whether an address has a password in it: as a URL or as words of the form name=value.
func hasPassword(address string) bool {
	if _, rest, isURL := strings.Cut(address, "://"); isURL {
		user, _, found := strings.Cut(rest, "@")
		return found && strings.Contains(user, ":") || strings.Contains(rest, "password=")
	}
	return strings.Contains(strings.ReplaceAll(address, " ", ""), "password=")
}

// verifyFull returns what to add to an address so that the certificate is verified.
func verifyFull(address string) string {
	switch {
	case !strings.Contains(address, "://"):
		return " sslmode=verify-full"
	case strings.Contains(address, "?"):
		return "&sslmode=verify-full"
	}
	return "?sslmode=verify-full"
}

// isLocal reports whether all hosts of a configuration are sockets or loopback addresses.
func isLocal(cfg *pgconn.Config) bool {
	local := func(host string) bool {
		ip := net.ParseIP(host)
		return strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || host == "localhost" || ip != nil && ip.IsLoopback()
	}
	for _, f := range cfg.Fallbacks {
		if !local(f.Host) {
			return false
		}
	}
	return local(cfg.Host)
}

// verifies reports whether all connections of a configuration verify the server's certificate and name.
func verifies(cfg *pgconn.Config) bool {
	for _, f := range cfg.Fallbacks {
		if f.TLSConfig == nil || f.TLSConfig.InsecureSkipVerify {
			return false
		}
	}
	return cfg.TLSConfig != nil && !cfg.TLSConfig.InsecureSkipVerify
}

// connect connects to an address. CodeUnavailable for a server that is away or refuses the credentials.
func connect(ctx context.Context, address string) (*pgconn.PgConn, error) {
	cfg, err := parse(address)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*connectLimit)
	defer cancel()
	conn, err := pgconn.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, fault("connect to the team's server", err)
	}
	return conn, nil
}

// ask runs a statement with arguments as text, nil for NULL, and returns its rows. A connection that does not answer in time is at its end.
func ask(ctx context.Context, conn *pgconn.PgConn, statement string, args ...any) ([][]string, error) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	answer := conn.ExecParams(ctx, statement, texts(args), nil, nil, nil).Read()
	return rowsOf(answer), answer.Err
}

func rowsOf(answer *pgconn.Result) (rows [][]string) {
	for _, values := range answer.Rows {
		rows = append(rows, collect.Map(values, func(v []byte) string { return string(v) }))
	}
	return rows
}

// texts returns arguments as PostgreSQL reads them.
func texts(args []any) (list [][]byte) {
	for _, arg := range args {
		if text, bytes := arg.([]byte); bytes {
			list = append(list, text) // nil is NULL
		} else {
			list = append(list, fmt.Append(nil, arg))
		}
	}
	return list
}

// row is ask for a statement that returns one row of so many columns.
func row(ctx context.Context, conn *pgconn.PgConn, columns int, statement string) ([]string, error) {
	rows, err := ask(ctx, conn, statement)
	if err == nil && (len(rows) != 1 || len(rows[0]) != columns) {
		err = memory.Errorf(memory.CodeUnavailable, "the team's server gives an answer of another form")
	}
	if err != nil {
		return make([]string, columns), err
	}
	return rows[0], nil
}

// disconnect ends a connection: it does not wait for a server that is gone.
func disconnect(conn *pgconn.PgConn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx) // what it had to say is said
}

// fault returns the error of something that was to be done on the server, without the address: what an error of the server says
// of its own, and no more of others than the kind.
func fault(what string, err error) error {
	if err == nil {
		return nil
	}
	if memory.CodeOf(err) != memory.CodeInternal {
		return err
	}
	var server *pgconn.PgError
	var tls interface{ CertificateError() }
	var network net.Error
	switch {
	case errors.As(err, &server) && (server.Code == "28P01" || server.Code == "28000"):
		return memory.Errorf(memory.CodeUnavailable, "%s: it refuses the name or the password", what).WithHint("~/.pgpass has a line HOST:PORT:DATABASE:NAME:PASSWORD? A worker has the environment of its start")
	case errors.As(err, &server) && (server.Code == "42501" || server.Code == "3F000"):
		return memory.Errorf(memory.CodeUnavailable, "%s: %s (SQLSTATE %s)", what, server.Message, server.Code).WithHint("an administrator grants claude_mem_writer to your role: docs/teams.md")
	case errors.As(err, &server):
		return memory.Errorf(memory.CodeUnavailable, "%s: %s (SQLSTATE %s)", what, server.Message, server.Code)
	case strings.Contains(err.Error(), "x509:"), strings.Contains(err.Error(), "tls:"), errors.As(err, &tls):
		return memory.Errorf(memory.CodeUnavailable, "%s: its certificate cannot be verified", what).WithHint("sslrootcert=FILE names the certificate authority; the certificate has the host's name?")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return memory.Errorf(memory.CodeUnavailable, "%s: it does not answer in time", what)
	}
	return memory.Errorf(memory.CodeUnavailable, "%s: the connection failed", what).WithHint("is the server up, and the address right? It is tried again")
}

// rights is what a role may do.
type rights struct {
	name                 string
	version              int
	strong, owner        bool
	reads, writes, ready bool
}

func rightsOf(ctx context.Context, conn *pgconn.PgConn) (r rights, err error) {
	got, err := row(ctx, conn, 6, `SELECT session_user, current_setting('server_version_num'),
			coalesce((SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = session_user), true),
			EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'claude_mem_owner' AND pg_has_role(session_user, oid, 'MEMBER')),
			coalesce((SELECT has_schema_privilege(session_user, oid, 'USAGE') FROM pg_namespace WHERE nspname = 'claude_mem'), false),
			to_regclass('claude_mem.schema_version') IS NOT NULL`)
	version := got[1]
	r.name, r.strong, r.owner, r.reads, r.ready = got[0], got[2] != "f", got[3] != "f", got[4] == "t", got[5] == "t"
	if err == nil && r.reads && r.ready {
		got, failed := row(ctx, conn, 1, "SELECT has_column_privilege(session_user, 'claude_mem.record', 'state', 'INSERT')")
		r.writes, err = got[0] == "t", failed
	}
	r.version, _ = strconv.Atoi(version) // 0 is too old
	if err == nil && r.version < oldestServer {
		err = memory.Errorf(memory.CodeInvalid, "the team's server is PostgreSQL %d; 15 or later is needed", r.version/10000)
	}
	return r, fault("ask the team's server what you may do", err)
}

// member returns what a role may do that is a person's. CodeInvalid for one that could do more than a member, or nothing.
func member(ctx context.Context, conn *pgconn.PgConn) (rights, error) {
	r, err := rightsOf(ctx, conn)
	switch {
	case err != nil:
	case r.strong:
		err = memory.Errorf(memory.CodeInvalid, "%s is a superuser of the server, or above its policies: nobody works with a team as such a role", r.name).WithHint("an administrator makes one role a person: docs/teams.md")
	case r.owner:
		err = memory.Errorf(memory.CodeInvalid, "%s can become the owner of the team's schema: nobody works with a team as such a role", r.name).WithHint("use a role of your own for your memory: docs/teams.md")
	case !r.reads || !r.ready:
		err = memory.Errorf(memory.CodeUnavailable, "%s sees no memory of a team on the server", r.name).WithHint("an administrator runs `claude-mem team init` and grants claude_mem_writer to your role: docs/teams.md")
	case !memberName.MatchString(r.name):
		err = memory.Errorf(memory.CodeInvalid, "the name of the role has other characters than letters, digits and _.@-")
	default:
		err = checkSchema(ctx, conn)
	}
	return r, err
}

// checkSchema returns CodeConflict if this program and the server's schema do not go together.
func checkSchema(ctx context.Context, conn *pgconn.PgConn) error {
	version, oldest, err := versionOf(ctx, conn)
	switch {
	case err != nil:
		return err
	case oldest > schemaVersion:
		return memory.Errorf(memory.CodeConflict, "the team's server has schema %d, this claude-mem knows up to %d; nothing was changed", version, schemaVersion).WithHint("claude-mem upgrade")
	case version < schemaVersion:
		return memory.Errorf(memory.CodeConflict, "the team's server has schema %d, this claude-mem needs %d; nothing was changed", version, schemaVersion).WithHint("an administrator runs `claude-mem team init` of this version")
	}
	return nil
}

func versionOf(ctx context.Context, conn *pgconn.PgConn) (version, oldest int, err error) {
	got, err := row(ctx, conn, 2, "SELECT coalesce(max(version), 0), coalesce(max(oldest), 0) FROM claude_mem.schema_version")
	version, _ = strconv.Atoi(got[0]) // 0 after an error
	oldest, _ = strconv.Atoi(got[1])
	return version, oldest, fault("read the schema of the team's server", err)
}

// Init brings the schema of a team up to date, as a role that can become claude_mem_owner. It returns the versions before and
// after. CodeInvalid if the administrator's statements were not run; CodeConflict for a schema that is newer than this program.
func Init(ctx context.Context, address string) (before, after int, err error) {
	conn, err := connect(ctx, address)
	if err != nil {
		return 0, 0, err
	}
	defer disconnect(conn)
	r, err := rightsOf(ctx, conn)
	if err != nil {
		return 0, 0, err
	}
	if !r.owner {
		return 0, 0, memory.Errorf(memory.CodeInvalid, "%s cannot become claude_mem_owner, or there is no such role", r.name).WithHint("claude-mem team init --sql prints what an administrator runs first")
	}
	for _, statement := range []string{"BEGIN", "SET LOCAL ROLE claude_mem_owner", "SELECT pg_advisory_xact_lock(hashtext('claude_mem'))"} {
		if _, err := ask(ctx, conn, statement); err != nil {
			return 0, 0, fault("set the schema up", err)
		}
	}
	if before, err = migrate(ctx, conn); err == nil { // else it is undone with the connection
		_, err = ask(ctx, conn, "COMMIT")
	}
	return before, schemaVersion, fault("set the schema up", err)
}

// migrate runs the migrations that are missing, and returns the version before.
func migrate(ctx context.Context, conn *pgconn.PgConn) (before int, err error) {
	there, err := row(ctx, conn, 1, "SELECT to_regclass('claude_mem.schema_version') IS NOT NULL")
	if err == nil && there[0] == "t" {
		before, _, err = versionOf(ctx, conn)
	}
	if err == nil && before > schemaVersion {
		err = memory.Errorf(memory.CodeConflict, "the team's server has schema %d, this claude-mem knows up to %d; nothing was changed", before, schemaVersion).WithHint("claude-mem upgrade")
	}
	if err != nil {
		return before, err
	}
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		return before, err
	}
	for i, file := range files[before:] {
		content, err := migrations.ReadFile("migrations/" + file.Name())
		if err != nil {
			return before, err
		}
		if _, err := conn.Exec(ctx, string(content)).ReadAll(); err != nil {
			return before, fmt.Errorf("%s: %w", file.Name(), err)
		}
		if _, err := ask(ctx, conn, "INSERT INTO claude_mem.schema_version (version, oldest) VALUES ($1, $2)", before+i+1, oldestClient[before+i]); err != nil {
			return before, err
		}
	}
	return before, nil
}

// oldestClient says of each version of the schema, from 1 on, the version that a client has to know at least.
var oldestClient = []int{1, 2}
