package httpapi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"claudemem/internal/capture/wire"
)

// Set, they make the test binary the TCP client of another user: it sends a tool event to
// the address, ends its side of the connection as told, and prints the answer.
const (
	clientAddressKey = "CLAUDE_MEM_TEST_CLIENT_ADDRESS"
	clientEndKey     = "CLAUDE_MEM_TEST_CLIENT_END"
)

const nobody = 65534

func TestMain(m *testing.M) {
	if address := os.Getenv(clientAddressKey); address != "" {
		if err := beOtherUser(address, os.Getenv(clientEndKey)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func beOtherUser(address, end string) error {
	if err := syscall.Setuid(nobody); err != nil {
		return err
	}
	c, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		wire.PathObservation, len(toolBody), toolBody); err != nil {
		return err
	}
	switch end {
	case "shut down":
		err = c.(*net.TCPConn).CloseWrite()
	case "closed":
		err = c.Close()
	}
	fmt.Println("sent")
	if err != nil || end == "closed" {
		return err
	}
	status, err := bufio.NewReader(c).ReadString('\n')
	fmt.Print(status)
	return err
}

// TestAnotherUserOverTCP posts an event from a process of another user, whatever that does
// with its end of the connection.
func TestAnotherUserOverTCP(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can start a process of another user")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, require := range []string{TokenAuto, TokenNever, TokenAlways} {
		for end, want := range map[string]string{"open": "403 Forbidden", "shut down": "403 Forbidden", "closed": ""} {
			t.Run(end+", REQUIRE_TOKEN="+require, func(t *testing.T) {
				sent := make(chan struct{})
				s := serve(t, Options{RequireToken: require, Token: "3b1f8a", CheckPeer: func(server, client addrPort) Peer {
					<-sent
					return CheckPeer(server, client)
				}})
				client := exec.Command(self)
				client.Env = []string{clientAddressKey + "=" + s.port, clientEndKey + "=" + end}
				client.Stderr = os.Stderr
				out, err := client.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := client.Start(); err != nil {
					t.Fatal(err)
				}
				said := bufio.NewReader(out)
				if line, err := said.ReadString('\n'); line != "sent\n" {
					t.Errorf("the client said %q, %v", line, err)
				}
				if end == "closed" {
					err = client.Wait()
					close(sent)
				} else {
					close(sent)
					rest, _ := io.ReadAll(said)
					if !strings.Contains(string(rest), want) {
						t.Errorf("answer %q, want %q", rest, want)
					}
					err = client.Wait()
				}
				if err != nil {
					t.Error(err)
				}
				if err := s.server.Shutdown(t.Context()); err != nil {
					t.Error(err)
				}
				if len(s.events) != 0 {
					t.Errorf("%d events of another user were taken in", len(s.events))
				}
			})
		}
	}
}
