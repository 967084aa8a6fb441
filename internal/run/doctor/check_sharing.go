package doctor

import (
	"context"
	"fmt"

	"claudemem/internal/leaf/text"
	"claudemem/internal/memory"
	"claudemem/internal/move/devices"
	"claudemem/internal/move/team"
)

// checkDevices checks the exchange with the other devices of the memory, as it was noted last.
func checkDevices(ctx context.Context, e *exam) ([]Finding, string) {
	if !devices.File.In(e.DataDir) {
		return nil, "this memory is on one device"
	}
	s, err := e.database()
	if err != nil {
		return nil, unread(err)
	}
	status, err := devices.ReadStatus(ctx, s, e.DataDir)
	if memory.CodeOf(err) == memory.CodeStorage {
		return []Finding{e.found("devices-key", err.Error())}, ""
	}
	if err != nil {
		return nil, unread(err)
	}
	var list []Finding
	if _, err := devices.GitProgram(); status.Remote != "" && err != nil {
		list = append(list, e.found("devices-git", err.Error()))
	} else if status.Fault != "" {
		list = append(list, e.found("devices-failed", "the exchange with other devices failed: "+status.Fault))
	}
	if n := len(status.Refused); n > 0 {
		list = append(list, e.found("devices-refused", fmt.Sprintf("%s of the folder of devices refused; the first: %s: %s", text.Count(n, "file"), status.Refused[0].Name, status.Refused[0].Reason)))
	}
	for i := range status.Devices {
		if d := &status.Devices[i]; !d.Retired && (d.Lost || d.Missing > 0) {
			list = append(list, e.found("devices-missing", "the folder lacks files of the device "+d.Label))
		}
	}
	return list, text.Count(len(status.Devices), "other device")
}

// checkTeam checks the exchange with the server of the memory's team, as it was noted last. It does not ask the server.
func checkTeam(ctx context.Context, e *exam) ([]Finding, string) {
	if !team.File.In(e.DataDir) {
		return nil, "this memory is in no team"
	}
	s, err := e.database()
	if err != nil {
		return nil, unread(err)
	}
	status, err := team.ReadStatus(ctx, s.Care, e.DataDir)
	if memory.CodeOf(err) == memory.CodeStorage {
		return []Finding{e.found("team-config", err.Error())}, ""
	}
	if err != nil {
		return nil, unread(err)
	}
	var list []Finding
	if status.Fault != "" {
		list = append(list, e.found("team-failed", "the exchange with the team failed: "+status.Fault))
	}
	if n := len(status.Refused); n > 0 {
		list = append(list, e.found("team-refused", fmt.Sprintf("%s of the team refused; the first: %s", text.Count(n, "record"), status.Refused[0])))
	}
	return list, text.Count(status.Pulled, "record") + " of others"
}
