// Stands in for Amp: fires its events at the plug-in's listeners and prints what they returned.
const { default: plugin } = await import(process.argv[2])
process.chdir(process.argv[3])
const listeners = new Map()
plugin({ on: (name, listener) => listeners.set(name, listener) })
const thread = { id: "T-1" }
const fire = (name, event) => listeners.get(name)({ thread, ...event })
const started = await fire("agent.start", { id: "m1", message: { content: "may amounts in money.py be floats?" } })
const again = await fire("agent.start", { id: "m2", message: { content: "thanks" } })
const read = await fire("tool.result", { toolUseID: "c1", tool: "Read", input: { path: "money.py" }, status: "done", output: "x" })
const messages = [{ role: "user", content: "hi" }, { role: "assistant", content: [{ type: "text", text: "Whole cents." }] }]
const ended = await fire("agent.end", { status: "done", messages })
const broken = await listeners.get("tool.result")(null)
console.log(JSON.stringify({ started, again, read, ended: ended ?? null, broken: broken ?? null }))
