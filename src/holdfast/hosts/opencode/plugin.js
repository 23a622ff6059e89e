export const Holdfast = async ({ directory, worktree }) => {
  const cwd = directory || worktree || process.cwd()
  const starts = new Map() // session -> what it was told at its start; opencode makes the system prompt anew each time
  const roles = new Map() // message -> who wrote it
  const replies = new Map() // session -> the agent's words so far in this turn, by part

  function started(session, source) {
    if (!starts.has(session) || source === "compact") {
      starts.set(session, ask("SessionStart", session, cwd, { source }))
    }
    return starts.get(session)
  }

  function reply(session) {
    const text = [...(replies.get(session) || new Map()).values()].join("\n")
    replies.delete(session)
    return text
  }

  return {
    event: safely(async ({ event }) => {
      const told = event.properties || {}
      if (event.type === "message.updated" && told.info) roles.set(told.info.id, told.info.role)
      if (event.type === "message.part.updated" && told.part?.type === "text" && !told.part.synthetic) {
        const part = told.part
        if (roles.get(part.messageID) !== "assistant") return
        if (!replies.has(part.sessionID)) replies.set(part.sessionID, new Map())
        replies.get(part.sessionID).set(part.id, part.text)
      }
      if (event.type === "session.idle") {
        ask("Stop", told.sessionID, cwd, { last_assistant_message: reply(told.sessionID) })
      }
      if (event.type === "session.compacted") started(told.sessionID, "compact")
      if (event.type === "session.deleted") ask("SessionEnd", told.info?.id || told.sessionID, cwd, { reason: "other" })
    }),
    "chat.message": safely(async (input, output) => {
      const said = output.parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
      const text = ask("UserPromptSubmit", input.sessionID, cwd, { prompt: said.join("\n") })
      if (!text) return
      const id = `prt_holdfast${Date.now()}`
      const messageID = output.message?.id || input.messageID
      output.parts.push({ id, sessionID: input.sessionID, messageID, type: "text", text, synthetic: true })
    }),
    "experimental.chat.system.transform": safely(async (input, output) => {
      const text = input.sessionID ? started(input.sessionID, "startup") : ""
      if (text) output.system.push(text)
    }),
    "tool.execute.after": safely(async (input, output) => {
      const text = ask("PostToolUse", input.sessionID, cwd, {
        tool_name: input.tool,
        tool_input: input.args || {},
        tool_use_id: input.callID,
        tool_response: { stdout: output.output, exit: output.metadata?.exit, diff: output.metadata?.diff },
      })
      if (text) output.output += "\n" + text
    }),
    "experimental.session.compacting": safely(async (input) => {
      ask("PreCompact", input.sessionID, cwd, { trigger: "auto" })
    }),
  }
}
