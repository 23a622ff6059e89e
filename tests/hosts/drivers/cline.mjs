// Stands in for Cline: sets the plug-in up and calls its hooks as Cline 3 does, and prints what they returned.
const { default: plugin } = await import(process.argv[2])
const rules = []
plugin.setup({ registerRule: (rule) => rules.push(rule) }, { session: { sessionId: "c-1" }, workspaceInfo: { rootPath: process.argv[3] } })
const start = [rules[0].content(), rules[0].content()]
const messages = [{ role: "user", content: [{ type: "text", text: "may amounts in money.py be floats?" }] }]
const prompt = await plugin.hooks.beforeRun({ snapshot: { messages } })
const call = { toolCall: { toolName: "read_file", toolCallId: "t1" }, input: { path: "money.py" } }
const before = await plugin.hooks.beforeTool(call)
await plugin.hooks.afterTool({ ...call, result: { content: "CENTS = 100" } })
const failing = { toolCall: { toolName: "execute_command", toolCallId: "t2" }, input: { command: "pytest -q" } }
await plugin.hooks.afterTool({ ...failing, result: { isError: true, content: "E  ValueError: odd cents" } })
await plugin.hooks.afterRun({ snapshot: { messages: [...messages, { role: "assistant", content: "Whole cents." }] } })
const broken = await plugin.hooks.afterTool(null)
console.log(JSON.stringify({ start, prompt: prompt ?? null, before: before ?? null, broken: broken ?? null }))
