// Command fakeanthropic serves a scenario as a fake Anthropic Messages API on
// the loopback interface. See the README for the scenario format.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"claudemem/proof/fakeanthropic"
)

type vars map[string]string

func (v vars) String() string { return "" }

func (v vars) Set(s string) error {
	name, value, ok := strings.Cut(s, "=")
	if !ok {
		return errors.New("want name=value")
	}
	v[name] = value
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "fakeanthropic:", err)
		os.Exit(1)
	}
}

func run() error {
	v := vars{}
	port := flag.Int("port", 0, "port to listen on at 127.0.0.1 (0: any free one)")
	urlFile := flag.String("url-file", "", "write the base URL to this file once listening")
	scenario := flag.String("scenario", "", "scenario file (default: answer \"Done.\" to everything)")
	logFile := flag.String("log", "", "append every request to this JSONL file")
	maxTime := flag.Duration("max-time", 0, "exit after this long (0: when told to)")
	check := flag.Bool("check", false, "check the scenario file and exit")
	flag.Var(v, "var", "name=value for {{name}} in the scenario (repeatable)")
	flag.Parse()

	sc := &fakeanthropic.Scenario{}
	if *scenario != "" {
		var err error
		if sc, err = fakeanthropic.Load(*scenario, v); err != nil {
			return err
		}
	}
	if *check {
		return nil
	}

	var log io.Writer
	if *logFile != "" {
		f, err := os.OpenFile(*logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		log = f
	}
	h, err := fakeanthropic.New(sc, log)
	if err != nil {
		return err
	}

	// Loopback only, by design: the server answers anyone who can reach it.
	ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		return err
	}
	url := "http://" + ln.Addr().String()
	if *urlFile != "" {
		tmp := *urlFile + ".tmp"
		if err := os.WriteFile(tmp, []byte(url+"\n"), 0o600); err != nil {
			return err
		}
		if err := os.Rename(tmp, *urlFile); err != nil {
			return err
		}
	}
	fmt.Println(url)

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *maxTime > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, *maxTime)
		defer cancel()
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		srv.Close()
	}()
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
