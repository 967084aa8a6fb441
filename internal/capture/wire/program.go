package wire

// Program is the version of claude-mem and claude-mem-hook, set by the linker
// (-X MODULE/internal/capture/wire.Program=…). Versions are ordered as semantic versions: a build
// between two releases is 0.1.0-dev.TIME+COMMIT with the time of its commit (see
// VERSION in the Makefile). Hooks send it, so that an older worker gives way.
var Program = "0.1.0-dev"

// ProgramHeader names Program on every request of a hook.
const ProgramHeader = "Claude-Mem-Program"
