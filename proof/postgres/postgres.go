//go:build unix

// Package postgres runs a PostgreSQL of a test, in a scratch directory and as an ordinary user: initdb refuses root.
package postgres

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"claudemem/internal/move/team"

	"github.com/jackc/pgx/v5"
)

// Server is a server of a test. It listens on a socket, where everybody is believed, and on a loopback port, where passwords are asked for.
type Server struct {
	Dir, Bin string
	Port     int
	// Options are given to postgres beside those of Start, such as "-c", "ssl=on".
	Options []string
	t       testing.TB
	cred    *syscall.Credential
	process *exec.Cmd
}

// Find returns the folder of PostgreSQL's programs, "" if it is not installed.
func Find() string {
	places, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is sound
	slices.Sort(places)
	if len(places) > 0 {
		return filepath.Dir(places[len(places)-1])
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	return ""
}

// Start starts a server. Without PostgreSQL it skips the test, or fails it if CLAUDE_MEM_NEED_POSTGRES is set.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{Bin: Find(), t: t}
	if s.Bin == "" {
		if os.Getenv("CLAUDE_MEM_NEED_POSTGRES") != "" {
			t.Fatal("PostgreSQL is not installed (Debian: apt-get install postgresql)")
		}
		t.Skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
	}
	dir, err := os.MkdirTemp("", "pg") // short: a socket's path has at most 107 bytes
	s.check(err)
	s.Dir = dir
	if os.Getuid() == 0 {
		nobody, err := user.Lookup("nobody")
		s.check(err)
		uid, _ := strconv.Atoi(nobody.Uid) // a number on Unix
		gid, _ := strconv.Atoi(nobody.Gid)
		s.cred = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		s.check(os.Chown(dir, uid, gid))
	}
	t.Cleanup(func() {
		s.Stop(syscall.SIGQUIT)
		_ = os.RemoveAll(dir) // it is a scratch directory
	})
	s.run("initdb", "-D", s.Data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
	s.check(os.WriteFile(filepath.Join(s.Data(), "pg_hba.conf"), []byte("local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n"), 0o600))
	if s.cred != nil {
		s.check(os.Chown(filepath.Join(s.Data(), "pg_hba.conf"), int(s.cred.Uid), int(s.cred.Gid)))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	s.check(err)
	s.Port = l.Addr().(*net.TCPAddr).Port
	s.check(l.Close())
	s.Begin()
	return s
}

// Data is the server's data directory.
func (s *Server) Data() string { return filepath.Join(s.Dir, "data") }

func (s *Server) check(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.Bin, name), args...)
	cmd.Dir = s.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.cred}
	return cmd
}

func (s *Server) run(name string, args ...string) {
	s.t.Helper()
	if out, err := s.command(name, args...).CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// Begin starts a server that was stopped, and waits until it answers.
func (s *Server) Begin() {
	s.t.Helper()
	args := append([]string{"-D", s.Data(), "-k", s.Dir, "-p", strconv.Itoa(s.Port), "-h", "127.0.0.1", "-F",
		"-c", "shared_buffers=64MB", "-c", "max_connections=60", "-c", "autovacuum=off"}, s.Options...)
	s.process = s.command("postgres", args...)
	var log bytes.Buffer
	s.process.Stderr = &log
	s.check(s.process.Start())
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		conn, err := pgx.Connect(ctx, s.Address("postgres"))
		if err == nil {
			_ = conn.Close(ctx) // it has answered
		}
		cancel()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			s.Stop(syscall.SIGQUIT)
			s.t.Fatalf("the server does not answer: %v\n%s", err, log.String())
		}
	}
}

// Stop ends the server by a signal: SIGQUIT is a crash, after which it recovers from its log. With SIGSTOP it stays, and answers no more.
func (s *Server) Stop(signal syscall.Signal) {
	if s.process == nil {
		return
	}
	if signal == syscall.SIGSTOP {
		s.check(s.process.Process.Signal(signal))
		return
	}
	_ = s.process.Process.Signal(signal) // it may have ended
	_ = s.process.Wait()                 // how it ended is asked for
	s.process = nil
}

// Continue has a server go on that was stopped by SIGSTOP.
func (s *Server) Continue() { s.check(s.process.Process.Signal(syscall.SIGCONT)) }

// Address is that of a role on the socket.
func (s *Server) Address(role string) string {
	return fmt.Sprintf("host=%s port=%d user=%s dbname=postgres", s.Dir, s.Port, role)
}

// Exec runs statements as a role, and fails the test if they fail.
func (s *Server) Exec(role, statements string) {
	s.t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, s.Address(role))
	s.check(err)
	defer func() { _ = conn.Close(ctx) }() // all was said
	_, err = conn.PgConn().Exec(ctx, statements).ReadAll()
	s.check(err)
}

// Team sets a team up, with these members, who write, and the reader "carol_reads".
func (s *Server) Team(members ...string) {
	s.t.Helper()
	s.Exec("postgres", "CREATE ROLE boss LOGIN CREATEROLE; GRANT CREATE ON DATABASE postgres TO boss;")
	s.Exec("boss", team.AdministratorSQL)
	for _, name := range members {
		s.Exec("boss", "CREATE ROLE "+name+" LOGIN PASSWORD 'secret-of-"+name+"' IN ROLE claude_mem_writer")
	}
	s.Exec("boss", "CREATE ROLE carol_reads LOGIN IN ROLE claude_mem_reader")
	if _, _, err := team.Init(context.Background(), s.Address("boss")); err != nil {
		s.t.Fatal(err)
	}
}

// Own gives files of the server's directory to its user, for nobody else to read.
func (s *Server) Own(names ...string) {
	s.t.Helper()
	for _, name := range names {
		path := filepath.Join(s.Dir, name)
		s.check(os.Chmod(path, 0o600))
		if s.cred != nil {
			s.check(os.Chown(path, int(s.cred.Uid), int(s.cred.Gid)))
		}
	}
}

// Grep returns the files below the data directory whose bytes have a text; with tables, only those of tables.
func (s *Server) Grep(text string, tables bool) (found []string) {
	root := s.Data()
	if tables {
		root = filepath.Join(root, "base")
	}
	s.check(filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // deleted meanwhile
		}
		if content, err := os.ReadFile(path); err == nil && strings.Contains(string(content), text) {
			found = append(found, path)
		}
		return nil
	}))
	return found
}
