let cwd = process.cwd()
let session = ""

function words(message) {
  const content = message?.content
  if (typeof content === "string") return content
  return (Array.isArray(content) ? content : []).filter((part) => part.type === "text").map((part) => part.text).join("\n")
}

function last(messages, role) {
  return words((messages || []).filter((message) => message.role === role).at(-1))
}

const tool = (told) => ({
  tool_name: told.toolCall?.toolName,
  tool_input: told.input || {},
  tool_use_id: told.toolCall?.toolCallId || told.toolCall?.id,
})

const context = (text) => (text ? { appendContext: text } : undefined)

const plugin = {
  name: "holdfast",
  manifest: { capabilities: ["rules", "hooks"] },
  setup(api, ctx) {
    try {
      session = ctx?.session?.sessionId || session
      cwd = ctx?.workspaceInfo?.rootPath || cwd
      let told
      const content = () => (told ??= ask("SessionStart", session, cwd, { source: "startup" }))
      api.registerRule({ id: "holdfast-start", source: "holdfast", content })
    } catch {
      // without the rule the hooks still work
    }
  },
  hooks: {
    beforeRun: safely(async (told) =>
      context(ask("UserPromptSubmit", session, cwd, { prompt: last(told.snapshot?.messages, "user") }))),
    beforeTool: safely(async (told) => context(ask("PreToolUse", session, cwd, tool(told)))),
    afterTool: safely(async (told) =>
      context(ask("PostToolUse", session, cwd, { ...tool(told), tool_response: told.result }))),
    afterRun: safely(async (told) => {
      ask("Stop", session, cwd, { last_assistant_message: last(told.snapshot?.messages, "assistant") })
    }),
  },
}

export default plugin
