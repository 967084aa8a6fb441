package wire

import (
	"bytes"
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
	// Deadline ends any exchange.
	Deadline time.Time

	// early is the connection for the next exchange, or the error of making it.
	early *dialled
}

// dialled is a connection made ahead of its exchange.
type dialled struct {
	link conn
	err  error
	// posting is the path of the POST whose head has been sent, "" for none.
	posting string
}

// Dial connects ahead of the next exchange: an idle worker wakes up and accepts
// while the caller still waits for its payload. Close gives the connection up.
func (c *Client) Dial() {
	link, err := dial(c.Address, c.Deadline)
	c.early = &dialled{link: link, err: err}
}

// Begin sends the head of a POST to path on the connection that Dial made: the
// worker finds the route while the caller still makes the body. The Post to that
// path has to follow. Without such a connection, or on one that the worker has
// closed meanwhile, Begin does nothing.
func (c *Client) Begin(path string) {
	if c.early == nil || c.early.err != nil || c.early.posting != "" {
		return
	}
	err := c.early.link.SetDeadline(c.Deadline)
	if err == nil {
		_, err = c.early.link.Write(requestHead("POST", path, c.Address.Token, unknown))
	}
	if err != nil {
		c.Close() // Post makes another
		return
	}
	c.early.posting = path
}

// Close ends a connection that Dial made and no exchange has used.
func (c *Client) Close() {
	if c.early != nil && c.early.err == nil {
		_ = c.early.link.Close() // it was not used
	}
	c.early = nil
}

// connect returns the connection that Dial made if it suits the request, else a new
// one.
func (c *Client) connect(posting string) (dialled, error) {
	if c.early != nil && (c.early.posting == "" || c.early.posting == posting) {
		early := *c.early
		c.early = nil
		return early, early.err
	}
	c.Close()
	link, err := dial(c.Address, c.Deadline)
	return dialled{link: link}, err
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

// Post sends a JSON body, given in pieces, to a path.
func (c *Client) Post(path string, body ...[]byte) (Response, error) {
	return c.exchange("POST", path, body)
}

// exchange returns ErrNoWorker, ErrWireVersion, ErrResponse, an error for which
// os.IsTimeout holds, or another error of the connection.
func (c *Client) exchange(method, target string, body [][]byte) (Response, error) {
	posting := ""
	if method == "POST" {
		posting = target
	}
	early, err := c.connect(posting)
	if err != nil {
		return Response{}, err
	}
	link := early.link
	defer func() { _ = link.Close() }() // the answer was read, or is given up
	if err := link.SetDeadline(c.Deadline); err != nil {
		return Response{}, err
	}
	if early.posting != "" {
		err = sendChunk(link, body)
	} else {
		head := requestHead(method, target, c.Address.Token, Size(body))
		err = writePieces(link, append([][]byte{head}, body...))
	}
	if os.IsTimeout(err) {
		return Response{}, err
	}
	// A worker may refuse before it has read the body.
	resp, unread := readResponse(link, maxAnswer)
	if unread != nil {
		if err == nil {
			err = unread
		}
		return Response{}, err
	}
	if answer, _ := ParseAnswer(resp.Body); resp.Wire != VersionText && (resp.Status < 300 || resp.Status == 409) || resp.Status == 409 && answer.Code == "wire_version" {
		return resp, ErrWireVersion
	}
	return resp, nil
}

// sendChunk sends a body without a Content-Length: as one chunk and the end.
func sendChunk(link conn, body [][]byte) error {
	const end = "0\r\n\r\n"
	size := Size(body)
	if size == 0 {
		return writePieces(link, [][]byte{[]byte(end)}) // an empty chunk is the end
	}
	length := strconv.AppendInt(make([]byte, 0, 16), int64(size), 16)
	pieces := append([][]byte{append(length, "\r\n"...)}, body...)
	return writePieces(link, append(pieces, []byte("\r\n"+end)))
}

// Size returns how many bytes the pieces of a message have.
func Size(pieces [][]byte) (size int) {
	for _, piece := range pieces {
		size += len(piece)
	}
	return size
}

// writePieces writes the pieces one after the other, those below largePiece together.
func writePieces(to io.Writer, pieces [][]byte) error {
	for i := 0; i < len(pieces); {
		piece, next := pieces[i], i+1
		for len(piece) < largePiece && next < len(pieces) && len(pieces[next]) < largePiece {
			next++
		}
		if next > i+1 {
			piece = bytes.Join(pieces[i:next], nil)
		}
		if _, err := to.Write(piece); err != nil {
			return err
		}
		i = next
	}
	return nil
}

// unknown as the length of a body means that it is sent in chunks.
const unknown = -1

// requestHead returns the head of a request. length is that of the body, unknown for one in
// chunks; a GET has none.
func requestHead(method, target, token string, length int) []byte {
	head := method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n" + Header + ": " + VersionText + "\r\n" + ProgramHeader + ": " + Program + "\r\nConnection: close\r\n"
	if token != "" {
		head += "Authorization: Bearer " + token + "\r\n"
	}
	switch {
	case method == "GET":
	case length == unknown:
		head += "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
	default:
		head += "Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(length) + "\r\n"
	}
	return []byte(head + "\r\n")
}

// timedOut is the error of a deadline that passed; os.IsTimeout holds for it.
var timedOut error = os.ErrDeadlineExceeded
