// SPDX-License-Identifier: GPL-3.0-or-later
// Plays a capture of OpenCode, Kilo Code or MiMo Code into the real plugin, in the place of the agent:
// `node plugin.mjs PLUGIN HOST CAPTURE FOLDER`. Says, a JSON array a line of the capture, what the plugin sent for it.
// Only the agent is played: its client, which answers from the capture, and its processes. What is sent goes through a
// program that writes it down.

import fs from "node:fs"
import { pathToFileURL } from "node:url"

const [plugin, host, capture, folder] = process.argv.slice(2)
const sent = `${folder}/sent`
const program = `${folder}/program`
fs.writeFileSync(sent, "")
fs.writeFileSync(program, `#!/bin/sh\n{ printf '%s\\t' "$@"; cat; echo; } >>'${sent}'\n`, { mode: 0o755 })
const text = fs.readFileSync(plugin, "utf8").replace('"@VIGILCTL@"', JSON.stringify(program))
fs.writeFileSync(`${folder}/vigil.mjs`, text)

const lines = fs.readFileSync(capture, "utf8").trim().split("\n").map((line) => JSON.parse(line))
const infos = lines.map(({ payload }) => payload.properties?.info).filter((info) => info?.id?.startsWith("ses_"))
const load = lines.find(({ event }) => event === "plugin.load")?.payload
process.execPath = `/usr/lib/${host}`
// A capture that begins in the middle is one of a terminal's.
process.argv = load?.argv ?? ["bun", "/$bunfs/root/src/cli/tui/worker.js"]

// The processes of the capture's machine live as long as it lasts.
const read = fs.readFileSync
fs.readFileSync = (path, ...options) =>
  /^\/proc\/\d+\/stat$/.test(path) ? `1 (a b) S ${Array(30).fill("7").join(" ")}` : read(path, ...options)

const get = ({ path: { id } }) =>
  new Promise((found) => setTimeout(() => found({ data: infos.find((info) => info.id === id) ?? { id } }), 5))
const client = { session: { get } }

const module = await import(pathToFileURL(`${folder}/vigil.mjs`))
const exported = Object.values(module)
if (exported.length !== 1) throw new Error("the loader refuses anything but one function")
const state = globalThis[Symbol.for("dev.vigil.plugin")]

const instances = []
async function begin(directory) {
  instances.push({ directory, hooks: await exported[0]({ client, directory }) })
}
const home = new Map(infos.map((info) => [info.id, info.directory]))
const one = (id) => instances.findLast(({ directory }) => directory === home.get(id)) ?? instances.at(-1)

let read_to = 0
async function settled() {
  // Look-ups take 5 ms.
  await new Promise((done) => setTimeout(done, 8))
  while (state.busy || state.queue.length) await new Promise((done) => setTimeout(done, 1))
  const all = read(sent, "utf8")
  const news = all.slice(read_to)
  read_to = all.length
  return news.split("\n").filter(Boolean).map((line) => {
    const [hook, agent, name, payload] = line.split("\t")
    if (hook !== "hook") throw new Error(line)
    return { agent, name, payload: JSON.parse(payload) }
  })
}

if (!load) {
  await begin(infos[0]?.directory ?? "/home/user/proj")
  await settled()
}
let disposed = false
for (const { event, payload } of lines) {
  const [, hook] = /^hook:(.*)/.exec(event) ?? []
  if (event === "plugin.load") await begin(payload.directory)
  else if (hook === "config" && disposed) await begin(instances.at(-1).directory)
  else if (hook === "dispose") {
    await instances.at(-1).hooks.dispose?.()
    disposed = true
  } else if (hook) await one(payload.input?.sessionID)?.hooks[hook]?.(payload.input, payload.output)
  else if (payload.type) one(payload.properties.sessionID)?.hooks.event?.({ event: payload })
  console.log(JSON.stringify(await settled()))
}
process.exit(0)
