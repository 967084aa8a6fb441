package httpapi

import (
	"cmp"
	"log/slog"
	"net/http"
	"time"
)

// NewServer returns a server for a handler of New, for the Unix socket and for TCP. It
// closes connections that send or read too slowly: on the loopback interface a second is
// a long time.
func NewServer(handler http.Handler, logger *slog.Logger) *http.Server {
	logger = cmp.Or(logger, slog.New(slog.DiscardHandler))
	return &http.Server{
		Handler:           handler,
		ConnContext:       connContext,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
}
