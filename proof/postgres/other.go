//go:build !unix

// Package postgres runs a PostgreSQL of a test; on this system it finds none.
package postgres

import "testing"

// Server is a server of a test.
type Server struct{}

// Find returns "": there is none.
func Find() string { return "" }

// Start skips the test.
func Start(t testing.TB) *Server {
	t.Skip("PostgreSQL is started on Unix only")
	return nil
}

// Team does nothing.
func (s *Server) Team(...string) {}

// Address returns "".
func (s *Server) Address(string) string { return "" }
