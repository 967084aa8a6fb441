package wire

import (
	"cmp"
	"errors"
	"io"
	"os"
	"strconv"
	"time"
)

// Errors of an exchange that a hook handles differently.
var (
	// ErrNoWorker: no process listens; there is no socket, or a dead one.
	ErrNoWorker = errors.New("no worker listens")
	// ErrWireVersion: the worker, or a spool file, has another version.
	ErrWireVersion = errors.New("other wire version")
	// ErrResponse: the answer is no valid HTTP/1.1 response.
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
	// Deadline ends any exchange. The zero time has passed long ago, so every exchange times out.
	Deadline time.Time

	// early is the connection for the next exchange, or the error of making it.
	early *dialled
}

// dialled is a connection made ahead of its exchange.
type dialled struct {
	link conn
	err  error
}

// Dial connects ahead of the next exchange: an idle worker wakes up and accepts
// while the caller still waits for its payload. Close gives the connection up.
func (c *Client) Dial() {
	link, err := dial(c.Address, c.Deadline)
	c.early = &dialled{link, err}
}

// Close ends a connection that Dial made and no exchange has used.
func (c *Client) Close() {
	if c.early != nil && c.early.err == nil {
		_ = c.early.link.Close() // it was not used
	}
	c.early = nil
}

// Response is an answer with its body read whole.
type Response struct {
	Status int
	// Wire is the value of Header, "" when the answer has none.
	Wire string
	Body []byte
}

// maxAnswer bounds the body of an answer; a context block has 40 KB at most.
const maxAnswer = 1 << 20

// Get asks for a target (path and query).
func (c *Client) Get(target string) (Response, error) { return c.exchange("GET", target, nil) }

// Post sends a JSON body to a path.
func (c *Client) Post(path string, body []byte) (Response, error) {
	return c.exchange("POST", path, body)
}

// exchange returns ErrNoWorker, ErrWireVersion, ErrResponse, an error for which
// os.IsTimeout holds, or another error of the connection. An answer of any other status is no
// error. A connection of Dial that failed gives its error; one that the worker has closed since
// is made anew, once.
func (c *Client) exchange(method, target string, body []byte) (Response, error) {
	head := requestHead(method, target, c.Address.Token, len(body))
	if len(body) < largePiece {
		head, body = append(head, body...), nil
	}
	if early := c.early; early != nil {
		c.early = nil
		if early.err != nil {
			return Response{}, early.err
		}
		if resp, broken, err := c.send(early.link, head, body); !broken {
			return resp, err
		} // else the worker has closed it meanwhile
	}
	link, err := dial(c.Address, c.Deadline)
	if err != nil {
		return Response{}, err
	}
	resp, _, err := c.send(link, head, body)
	return resp, err
}

// send sends a request over a connection, which it closes, and reads the answer; broken says that
// the connection did not take the request and gave no answer, so that it can be sent again. With
// ErrWireVersion the answer is returned too.
func (c *Client) send(link conn, head, body []byte) (resp Response, broken bool, err error) {
	defer func() { _ = link.Close() }() // the answer was read, or is given up
	if err := link.SetDeadline(c.Deadline); err != nil {
		return Response{}, false, err
	}
	_, err = link.Write(head)
	if err == nil && len(body) > 0 {
		_, err = link.Write(body)
	}
	if os.IsTimeout(err) {
		return Response{}, false, err
	}
	// A worker may refuse before it has read the body.
	resp, unread := readResponse(link, maxAnswer)
	if unread != nil {
		return Response{}, err != nil, cmp.Or(err, unread)
	}
	if answer, _ := ParseAnswer(resp.Body); resp.Wire != VersionText && (resp.Status < 300 || resp.Status == 409) || resp.Status == 409 && answer.Code == "wire_version" {
		return resp, false, ErrWireVersion
	}
	return resp, false, nil
}

// largePiece is the size from which a body is written by itself instead of being copied
// behind its head.
const largePiece = 16 << 10

// requestHead returns the head of a request with a body of a length; a GET has none.
func requestHead(method, target, token string, length int) []byte {
	head := method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n" + Header + ": " + VersionText + "\r\n" + ProgramHeader + ": " + Program + "\r\nConnection: close\r\n"
	if token != "" {
		head += "Authorization: Bearer " + token + "\r\n"
	}
	if method != "GET" {
		head += "Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(length) + "\r\n"
	}
	return []byte(head + "\r\n")
}

// timedOut is the error of a deadline that passed; os.IsTimeout holds for it.
var timedOut error = os.ErrDeadlineExceeded
