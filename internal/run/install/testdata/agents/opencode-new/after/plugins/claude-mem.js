// claude-mem: written by `claude-mem install --host opencode`, removed by `claude-mem uninstall`.
//
// OpenCode runs no commands at its events, so this plugin does: it tells claude-mem-hook what
// happens, and gives the model what is remembered. It never throws, and waits for a hook no
// longer than `limit`.
import { spawn } from "node:child_process"

const hook = "/data/bin/claude-mem-hook"
const limit = 5000 // ms; the hook itself answers within 2 s, mostly within 10 ms

// contextOf returns the text for the model in a hook's reply, "" for none.
function contextOf(reply) {
  try {
    return JSON.parse(reply).hookSpecificOutput?.additionalContext ?? ""
  } catch {
    return ""
  }
}

// run runs a verb of the hook and returns the text for the model.
function run(verb, payload) {
  return new Promise((resolve) => {
    let child
    let reply = ""
    const timer = setTimeout(() => {
      child?.kill("SIGKILL")
      finish()
    }, limit)
    const finish = () => {
      clearTimeout(timer)
      resolve(contextOf(reply))
    }
    try {
      child = spawn(hook, [verb, "--host", "opencode"], { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
      child.on("error", finish)
      child.on("close", finish)
      child.stdin.on("error", () => {})
      child.stdout.on("data", (data) => (reply += data))
      child.stdin.end(JSON.stringify(payload))
    } catch {
      finish()
    }
  })
}

export const ClaudeMem = async ({ directory, worktree }) => {
  const project = worktree && worktree !== "/" ? worktree : directory
  const sessions = new Map()
  const pending = new Set()

  // of returns what is known of a session.
  const of = (id) => {
    if (!sessions.has(id)) sessions.set(id, { users: new Set(), args: new Map(), source: "resume" })
    return sessions.get(id)
  }
  // tell runs a verb for a session. What a subagent does belongs to the session that began it.
  const tell = (verb, name, id, members) => {
    const payload = { hook_event_name: name, session_id: id, cwd: directory, project_dir: project, ...members }
    for (let parent = of(id).parent; parent; parent = of(parent).parent) {
      payload.session_id = parent
      payload.agent_id = id
      payload.agent_type = "subagent"
    }
    const running = run(verb, payload)
    pending.add(running)
    running.finally(() => pending.delete(running))
    return running
  }
  // safely returns a hook of the plugin that does nothing instead of throwing.
  const safely = (act) => async (...args) => {
    try {
      await act(...args)
    } catch {}
  }

  const saved = (id, call, tool, args, members) => tell("save", "tool.execute.after", id, { tool, call_id: call, args: args ?? {}, ...members })

  const events = {
    "session.created": ({ info }) => Object.assign(of(info.id), { parent: info.parentID, source: "startup" }),
    "session.updated": ({ info }) => Object.assign(of(info.id), { parent: info.parentID }),
    "session.compacted": ({ sessionID }) => Object.assign(of(sessionID), { given: false, source: "compact" }),
    "message.part.updated": ({ part }) => {
      const session = of(part.sessionID)
      if (part.type === "text" && !session.users.has(part.messageID) && part.text) session.answer = part.text
      if (part.type === "tool" && part.state?.status === "error") {
        return saved(part.sessionID, part.callID, part.tool, part.state.input, { error: String(part.state.error || "failed") })
      }
    },
    "session.idle": ({ sessionID }) => {
      const session = of(sessionID)
      if (!session.parent && session.open) return tell("summary", "session.idle", sessionID, { last_assistant_message: session.answer })
    },
    "session.deleted": ({ info }) => end(info.id, "deleted"),
  }
  const end = (id, reason) => {
    const session = of(id)
    sessions.delete(id)
    if (session.open) return tell("end", "session.deleted", id, { reason })
  }

  return {
    event: safely(({ event }) => events[event.type]?.(event.properties)),
    "chat.message": safely(async ({ sessionID }, { message, parts }) => {
      const session = of(sessionID)
      session.users.add(message.id)
      if (session.parent) return
      const prompt = parts.filter((p) => p.type === "text" && !p.synthetic).map((p) => p.text).join("\n")
      const texts = []
      if (!session.given) texts.push(await tell("context", "session.created", sessionID, { source: session.source }))
      session.given = session.open = true
      session.answer = ""
      texts.push(await tell("new", "chat.message", sessionID, { message_id: message.id, prompt }))
      const text = texts.filter(Boolean).join("\n\n")
      const last = parts.at(-1)
      if (text && last) parts.push({ id: last.id + "m", sessionID, messageID: message.id, type: "text", synthetic: true, text })
    }),
    "tool.execute.before": safely(({ sessionID, callID }, { args }) => {
      of(sessionID).args.set(callID, args)
    }),
    "tool.execute.after": safely(async ({ sessionID, callID, tool, args }, output) => {
      const session = of(sessionID)
      args ??= session.args.get(callID)
      session.args.delete(callID)
      const { output: text, metadata, content } = output
      const said = text ?? content?.filter((c) => c.type === "text").map((c) => c.text).join("\n")
      const remembered = await saved(sessionID, callID, tool, args, { output: said, metadata })
      if (remembered && typeof output.output === "string") output.output += "\n\n" + remembered
    }),
    "experimental.session.compacting": safely(({ sessionID }) => tell("summary", "experimental.session.compacting", sessionID, {})),
    dispose: safely(async () => {
      await Promise.all(pending)
      await Promise.all([...sessions.keys()].map((id) => (of(id).parent ? undefined : end(id, "exit"))))
    }),
  }
}
