package wire

import (
	"errors"
	"io"
	"os"
	"strconv"
	"time"
)

// The faults of an exchange that a hook tells apart.
var (
	// ErrNoWorker says that nobody listens: there is no socket, or a dead one.
	ErrNoWorker = errors.New("no worker listens")
	// ErrWireVersion says that the worker, or a spool file, speaks another version.
	ErrWireVersion = errors.New("other wire version")
	// ErrResponse says that what was answered is not HTTP as we speak it.
	ErrResponse = errors.New("broken HTTP response")
)

// conn is a connection on which every call ends by its deadline.
type conn interface {
	io.ReadWriteCloser
	// SetDeadline bounds the calls that follow.
	SetDeadline(time.Time) error
}

// Client sends single requests to a worker, each on a connection of its own.
type Client struct {
	// Address is where the worker listens.
	Address Address
	// Deadline ends any exchange.
	Deadline time.Time

	// early is a connection for the next exchange, or why there is none.
	early *dialled
}

type dialled struct {
	link conn
	err  error
}

// Dial connects ahead of the next exchange: an idle worker wakes up and accepts
// while the caller still makes its request. Close gives up a connection that was
// not used after all.
func (c *Client) Dial() {
	link, err := dial(c.Address, c.Deadline)
	c.early = &dialled{link, err}
}

// Close ends a connection that Dial made and no exchange has used.
func (c *Client) Close() {
	if c.early != nil && c.early.err == nil {
		_ = c.early.link.Close() // nothing was said on it
	}
	c.early = nil
}

// connect takes the connection that Dial made, else makes one.
func (c *Client) connect() (conn, error) {
	if early := c.early; early != nil {
		c.early = nil
		return early.link, early.err
	}
	return dial(c.Address, c.Deadline)
}

// Response is an answer with its body read whole.
type Response struct {
	Status int
	// Wire is the value of Header, "" when the answer has none.
	Wire string
	Body []byte
}

// maxAnswer bounds a body: a context block is 40 KB at most, receipts a hundred bytes.
const maxAnswer = 1 << 20

// Get asks for a target (path and query).
func (c *Client) Get(target string) (Response, error) { return c.exchange("GET", target, nil) }

// Post sends a JSON body to a path.
func (c *Client) Post(path string, body []byte) (Response, error) {
	return c.exchange("POST", path, body)
}

// exchange returns ErrNoWorker, ErrWireVersion, ErrResponse, an error for which
// os.IsTimeout holds, or another error of the connection.
func (c *Client) exchange(method, target string, body []byte) (Response, error) {
	link, err := c.connect()
	if err != nil {
		return Response{}, err
	}
	defer func() { _ = link.Close() }() // the answer is read, or given up
	if err := link.SetDeadline(c.Deadline); err != nil {
		return Response{}, err
	}
	if err := send(link, appendRequest(nil, method, target, c.Address.Token, len(body)), body); err != nil {
		return Response{}, err
	}
	resp, err := readResponse(link, maxAnswer)
	if err != nil {
		return Response{}, err
	}
	if resp.Status == 409 && resp.Wire != VersionText {
		return resp, ErrWireVersion
	}
	if answer, err := ParseAnswer(resp.Body); resp.Status == 409 && err == nil && answer.Code == "wire_version" {
		return resp, ErrWireVersion
	}
	if resp.Status < 300 && resp.Wire != VersionText {
		return resp, ErrWireVersion
	}
	return resp, nil
}

// smallBody is up to which size head and body go in one write.
const smallBody = 128 << 10

func send(link conn, head, body []byte) error {
	if len(body) <= smallBody {
		_, err := link.Write(append(head, body...))
		return err
	}
	if _, err := link.Write(head); err != nil {
		return err
	}
	_, err := link.Write(body)
	return err
}

func appendRequest(b []byte, method, target, token string, length int) []byte {
	if b == nil {
		b = make([]byte, 0, 256+len(target)+min(length, smallBody))
	}
	b = append(b, method...)
	b = append(b, ' ')
	b = append(b, target...)
	b = append(b, " HTTP/1.1\r\nHost: localhost\r\n"+Header+": "+VersionText+"\r\nConnection: close\r\n"...)
	if token != "" {
		b = append(b, "Authorization: Bearer "...)
		b = append(b, token...)
		b = append(b, "\r\n"...)
	}
	if method != "GET" {
		b = append(b, "Content-Type: application/json\r\nContent-Length: "...)
		b = strconv.AppendInt(b, int64(length), 10)
		b = append(b, "\r\n"...)
	}
	return append(b, "\r\n"...)
}

// timedOut is the error of a deadline that passed; os.IsTimeout holds for it.
var timedOut error = os.ErrDeadlineExceeded
