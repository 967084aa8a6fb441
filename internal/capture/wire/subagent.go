package wire

import (
	"slices"

	"claudemem/internal/leaf/jsonscan"
	"claudemem/internal/memory"
)

const agentTool = "Agent"

// agentRun returns the id under which a subagent's run is kept.
func agentRun(agentID string) string { return "agent:" + agentID }

// NameAgentRun gives the call of a subagent that has completed the id that the
// subagent's end gets: the host reports one run twice, and the key of an event is made of its id,
// so that it is stored once. A subagent that was only launched keeps the id of its call; other
// events stay as they are.
func NameAgentRun(e *memory.Event) {
	if e.Kind != memory.KindTool || e.ToolName != agentTool && e.ToolName != "Task" {
		return
	}
	var status, id string
	if jsonscan.Decode(e.ToolResponse, map[string]any{"status": &status, "agentId": &id}) == nil && status == "completed" && id != "" {
		e.ToolUseID = agentRun(id)
	}
}

// SubagentEnd turns the end of a subagent, a KindStop with AgentID, into a tool event of its run: it
// is no end of the session's turn. It looks as if the Agent tool had returned the subagent's last
// message.
func SubagentEnd(e *memory.Event) {
	e.Kind = memory.KindTool
	e.ToolName = agentTool
	e.ToolUseID = ""
	if e.AgentID != "" {
		e.ToolUseID = agentRun(e.AgentID)
	}
	e.ToolInput = jsonscan.Object("subagent_type", e.AgentType)
	answer := jsonscan.Object("type", "text", "text", e.LastAssistantMessage)
	e.ToolResponse = jsonscan.Object("status", "completed", "agentId", e.AgentID, "agentType", e.AgentType, "content", slices.Concat([]byte("["), answer, []byte("]")))
	e.ToolError, e.LastAssistantMessage = "", ""
}
