export default function (amp) {
  const cwd = process.cwd()
  const seen = new Set()
  const id = (event) => event.thread?.id || ""

  function start(session) {
    if (seen.has(session)) return ""
    seen.add(session)
    return ask("SessionStart", session, cwd, { source: "startup" })
  }

  function words(message) {
    if (typeof message === "string") return message
    const content = message?.content
    if (typeof content === "string") return content
    return (Array.isArray(content) ? content : []).filter((part) => part.type === "text").map((part) => part.text).join("\n")
  }

  amp.on("agent.start", safely(async (event) => {
    const begun = start(id(event))
    const told = ask("UserPromptSubmit", id(event), cwd, { prompt: words(event.message) })
    const content = [begun, told].filter(Boolean).join("\n")
    return content ? { message: { content, display: false } } : {}
  }))
  amp.on("tool.result", safely(async (event) => {
    const text = ask("PostToolUse", id(event), cwd, {
      tool_name: event.tool,
      tool_input: event.input || {},
      tool_use_id: event.toolUseID,
      tool_response: event.output,
      status: event.status,
    })
    if (text && typeof event.output === "string") return { status: event.status, output: event.output + "\n" + text }
    return undefined
  }))
  amp.on("agent.end", safely(async (event) => {
    const said = (event.messages || []).filter((message) => message.role === "assistant").map(words)
    ask("Stop", id(event), cwd, { last_assistant_message: said.filter(Boolean).at(-1) || "" })
    return undefined
  }))
}
