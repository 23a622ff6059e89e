// holdfast: hands what happens to the memory, and what the memory answers to the agent. Written by `holdfast setup`;
// `holdfast uninstall` removes it. Whatever goes wrong here, the session goes on without us.
import { spawnSync } from "node:child_process"

const PROGRAM = ["@PROGRAM@"]

function ask(event, session, cwd, fields) {
  try {
    const ran = spawnSync(PROGRAM[0], PROGRAM.slice(1), {
      input: JSON.stringify({ hook_event_name: event, session_id: session || "", cwd, ...fields }),
      encoding: "utf8",
      timeout: 2000,
      windowsHide: true,
    })
    return JSON.parse(ran.stdout || "{}").context || ""
  } catch {
    return ""
  }
}

function safely(step) {
  return async (...given) => {
    try {
      return await step(...given)
    } catch {
      return undefined
    }
  }
}

