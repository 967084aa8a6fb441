package redact

import (
	"encoding/json"
	"fmt"
	"testing"

	"claudemem"
)

func TestSmoke(t *testing.T) {
	for _, s := range []string{
		"a <private>x</private> b", "password=hunter2", `{"password": "hunter2"}`, "postgres://u:p4ss@h/db",
		"curl -u bob:s3cr3t http://x", "Authorization: Basic dXNlcjpwYXNz", "Authorization: Bearer abc.def-123456",
		"export API_KEY=abcdef1234567890", "token := parser.Next()", "password string", `const keyName = "id"`,
		"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nabc", "mysql --password s3cret -u root",
	} {
		got, n := Text(StripTags(s))
		fmt.Printf("%q -> %q %v\n", s, got, n)
	}
	e := claudemem.Event{Kind: claudemem.KindTool, ToolName: "Read", ToolInput: json.RawMessage(`{"file_path":"/p/.env"}`), ToolResponse: json.RawMessage(`{"type":"text","file":{"filePath":"/p/.env","content":"A=1"}}`)}
	fmt.Println(Event(&e, []string{".env*"}), string(e.ToolInput), string(e.ToolResponse))
	e = claudemem.Event{Kind: claudemem.KindTool, ToolName: "Edit", ToolInput: json.RawMessage(`{"file_path":"/p/a"}`), ToolResponse: json.RawMessage(`{"lines":["+<private>","secret","</private>","x", "-----BEGIN PRIVATE KEY-----","abcdefghijklmnop","-----END PRIVATE KEY-----","z"],"password":"hunter2"}`)}
	fmt.Println(Event(&e, []string{".env*"}), string(e.ToolInput), string(e.ToolResponse))
}
