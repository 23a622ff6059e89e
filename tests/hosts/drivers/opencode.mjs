// Stands in for opencode: calls the plug-in's functions as opencode 1.18 does and prints what it added.
const { Holdfast } = await import(process.argv[2])
const hooks = await Holdfast({ directory: process.argv[3], worktree: process.argv[3] })
const sessionID = "ses_1"
const system = []
await hooks["experimental.chat.system.transform"]({ sessionID }, { system })
await hooks["experimental.chat.system.transform"]({ sessionID }, { system })
const message = { message: { id: "msg_1" }, parts: [{ type: "text", text: "may amounts in money.py be floats?" }] }
await hooks["chat.message"]({ sessionID, messageID: "msg_1" }, message)
const failed = { title: "", output: "E  ValueError: odd cents", metadata: { exit: 1 } }
await hooks["tool.execute.after"]({ tool: "bash", sessionID, callID: "c1", args: { command: "pytest -q" } }, failed)
await hooks.event({ event: { type: "message.updated", properties: { info: { id: "msg_2", role: "assistant" } } } })
const part = { id: "prt_1", messageID: "msg_2", sessionID, type: "text", text: "We decided to keep whole cents." }
await hooks.event({ event: { type: "message.part.updated", properties: { part } } })
await hooks.event({ event: { type: "session.idle", properties: { sessionID } } })
await hooks.event({ event: null })
console.log(JSON.stringify({ system, parts: message.parts.slice(1), output: failed.output }))
