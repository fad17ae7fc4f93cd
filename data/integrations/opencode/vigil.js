// Vigil's plugin for OpenCode, Kilo Code and MiMo Code: tells Vigil what the agent does.
// SPDX-License-Identifier: GPL-3.0-or-later
//
// A guest: no hook waits for it or sees an error of it, and it says nothing where Vigil is gone. It sends native
// events, of a payload only what Vigil reads, and beside it one object of its own, `vigil`, with what only it can know:
// which session is the root, which child speaks, whether the agent's own machinery wrote a prompt, whether the user
// ended a turn. It exports one function: the loader refuses a file that exports anything else as well.
// Facts are of OpenCode 1.18.33 and Kilo Code 7.7.7, seen; those of MiMo Code are of its published schemas.

import { spawn, spawnSync } from "node:child_process"
import fs from "node:fs"
import { basename } from "node:path"
import { isMainThread } from "node:worker_threads"

const program = "@VIGILCTL@"

// What is kept of a text for people, in characters.
const TEXT = 500
// How many events wait, and how many sessions are known.
const WAITING = 256
const SESSIONS = 512
// In milliseconds: how long one delivery may hold up the next, all of the last ones together, and the look-up of a
// session; how often the end of a background process is looked for; after what time a program goes on that has put
// its plugins away.
const DELIVERY = 3000
const FAREWELL = 1500
const LOOKUP = 2000
const LOOK = 2000
const RELOADED = 3000

// One for all instances of the plugin in this process; a server has one instance a directory.
const shared = (globalThis[Symbol.for("dev.vigil.plugin")] ??= {
  seq: 0,
  queue: [],
  busy: false,
  // Directories with an instance, and those whose instance was put away. As Kilo ends it makes another one, in which
  // the last events arrive (seen).
  open: new Set(),
  closing: new Set(),
  // What the one row of a terminal shows: a session, or the program that has none yet.
  current: undefined,
  background: new Map(),
  timer: undefined,
})

// Forks set the others' variables too, so the name of the executable comes first.
function host() {
  const name = basename(process.execPath).toLowerCase()
  if (name.includes("mimo")) return "mimocode"
  if (name.includes("kilo")) return "kilo"
  if (name.includes("opencode")) return "opencode"
  return process.env.KILO ? "kilo" : "opencode"
}

// What runs here: `tui`, which is a worker of its process, or the command. A server has many sessions, and no terminal.
function command() {
  return !isMainThread || /worker\.[jt]s$/.test(process.argv[1] ?? "") ? "tui" : process.argv[2]
}

const cut = (value) => (typeof value === "string" ? value.slice(0, TEXT) : undefined)

function pick(object, keys) {
  const picked = {}
  for (const key of keys) {
    const value = object?.[key]
    if (typeof value === "string") picked[key] = cut(value)
    else if (typeof value === "number" || typeof value === "boolean") picked[key] = value
  }
  return picked
}

// What is read of each event of the bus, apart from its session.
const questions = (p) => ({
  ...pick(p, ["id"]),
  questions: [pick(p.questions?.[0], ["question"])],
})
const permission = (p) => ({
  ...pick(p, ["id", "permission", "action"]),
  patterns: [cut((p.patterns ?? p.resources)?.[0])],
  metadata: pick(p.metadata, ["command"]),
})
const reply = (p) => pick(p, ["requestID", "reply"])
const session = (p) => ({ info: pick(p.info, ["id", "parentID", "title"]) })
const READ = {
  "session.created": session,
  "session.updated": session,
  "session.deleted": session,
  "session.status": (p) => ({ status: pick(p.status, ["type", "message", "requestID"]) }),
  "session.error": (p) => ({ error: { ...pick(p.error, ["name"]), data: pick(p.error?.data, ["message"]) } }),
  "session.drain.interrupted": () => ({}),
  "permission.asked": permission,
  "permission.v2.asked": permission,
  "permission.replied": reply,
  "permission.v2.replied": reply,
  "question.asked": questions,
  "question.v2.asked": questions,
  "question.replied": reply,
  "question.v2.replied": reply,
  "question.rejected": reply,
  "question.v2.rejected": reply,
  "actor.registered": (p) => pick(p, ["actorID", "mode", "agent"]),
  "actor.status": (p) => pick(p, ["actorID", "status"]),
}
const ARGUMENTS = ["command", "filePath", "path", "pattern", "url", "query", "description", "action"]

// What a new session is called before it has a title.
const UNTITLED = /^(New|Child) session - /

// MiMo's own helpers, which are no subagents of the user's.
const HELPERS = ["checkpoint-writer", "dream", "distill", "title", "summary", "compaction"]

const agent = host()
const now = () => performance.now()

// The words of one delivery, and what it is given.
function words(item) {
  const { payload } = item
  if (payload.vigil) payload.vigil.age_ms = Math.max(0, Math.round(now() - item.at))
  return [["hook", agent, item.name], JSON.stringify(payload)]
}

function send(name, payload, at = now()) {
  shared.queue.push({ name, payload, at })
  // What is newer says more.
  if (shared.queue.length > WAITING) shared.queue.shift()
  deliver()
}

// One after the other, in order; nobody waits for it.
function deliver() {
  if (shared.busy || !shared.queue.length) return
  shared.busy = true
  let timer
  let over = false
  const next = () => {
    if (over) return
    over = true
    clearTimeout(timer)
    shared.busy = false
    deliver()
  }
  try {
    const item = shared.queue.shift()
    const [given, text] = words(item)
    const child = spawn(program, given, { detached: true, stdio: ["pipe", "ignore", "ignore"] })
    child.on("error", next)
    child.on("exit", next)
    child.stdin.on("error", () => {})
    child.stdin.end(text)
    child.unref()
    timer = setTimeout(next, DELIVERY)
    timer.unref()
  } catch {
    next()
  }
}

// What is left, before the program goes.
function flush() {
  const end = now() + FAREWELL
  while (shared.queue.length && now() < end) {
    try {
      const [given, text] = words(shared.queue.shift())
      const timeout = Math.max(1, Math.round(end - now()))
      spawnSync(program, given, { input: text, stdio: ["pipe", "ignore", "ignore"], timeout })
    } catch {
      // It is gone.
    }
  }
}

// When a process began; another one with its number began at another time.
function began(pid) {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8")
    const [state, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return state === "Z" ? undefined : rest[18]
  } catch {
    return undefined
  }
}

// Kilo does not tell plugins when a background process ends: it is looked for while there is one.
function watch(processID, pid, over) {
  shared.background.set(processID, { pid, over, began: began(pid) })
  shared.timer ??= setInterval(() => {
    for (const [id, one] of shared.background) {
      if (one.began !== undefined && began(one.pid) === one.began) continue
      shared.background.delete(id)
      one.over()
    }
    if (shared.background.size) return
    clearInterval(shared.timer)
    shared.timer = undefined
  }, LOOK)
  shared.timer.unref?.()
}

// What the sessions of one directory are at, and what is told of it.
class Sessions {
  constructor(client, directory) {
    this.client = client
    this.directory = directory
    const mode = command()
    this.server = ["serve", "web", "acp"].includes(mode)
    this.terminal = ["tui", "run"].includes(mode)
    this.known = new Map()
    this.actors = new Map()
    this.inbox = []
    this.asking = false
  }

  // ---- what comes in, in order ----

  note(name, id, properties, own = {}) {
    if (typeof id !== "string" || id.startsWith("title-")) return
    if (shared.closing.has(this.directory)) {
      if (name !== "chat.message" || own.automatic) return
      shared.closing.delete(this.directory)
      shared.open.add(this.directory)
    }
    this.inbox.push({ name, id, properties, own, at: now() })
    if (this.inbox.length > WAITING) this.inbox.shift()
    this.pump()
  }

  pump() {
    while (this.inbox.length && !this.asking) {
      const unknown = this.unknown(this.inbox[0])
      if (unknown) return this.ask(unknown)
      this.take(this.inbox.shift())
    }
  }

  // The session whose parent has to be known before this event can be told.
  unknown({ name, id, properties }) {
    if (["session.created", "session.updated"].includes(name)) {
      this.of(id).parent = properties.info.parentID ?? null
    }
    for (let at = id, depth = 0; depth < 16; depth++) {
      const { parent } = this.of(at)
      if (parent === undefined) return at
      if (typeof parent !== "string") return undefined
      at = parent
    }
    return undefined
  }

  // A session that was there before us, as on `--continue`: its creation was never told. One that is not found is taken
  // for a child, since a child's end must not pass for the end of a turn.
  ask(id) {
    this.asking = true
    let over = false
    const settle = (parent) => {
      if (over) return
      over = true
      clearTimeout(timer)
      this.of(id).parent ??= parent
      this.asking = false
      try {
        this.pump()
      } catch {
        // The agent is not to hear of it.
      }
    }
    const timer = setTimeout(() => settle(false), LOOKUP)
    timer.unref?.()
    const found = (answer) => settle(answer?.data?.id === id ? (answer.data.parentID ?? null) : false)
    try {
      Promise.resolve(this.client.session.get({ path: { id } })).then(found, () => settle(false))
    } catch {
      settle(false)
    }
  }

  of(id) {
    let one = this.known.get(id)
    if (!one) {
      one = { id, parent: undefined, turn: false, requests: new Map(), state: "idle" }
      this.known.set(id, one)
      if (this.known.size > SESSIONS) this.known.delete(this.known.keys().next().value)
    }
    return one
  }

  root(id) {
    for (let depth = 0; depth < 16; depth++) {
      const { parent } = this.of(id)
      if (parent === null) return this.of(id)
      if (typeof parent !== "string") break
      id = parent
    }
    return shared.current ? this.of(shared.current) : undefined
  }

  // ---- what is told ----

  take(item) {
    const { name, id, properties } = item
    const root = this.root(id)
    if (!root) return
    const main = root.id === id
    const handler = main ? this.main : this.child
    // A terminal shows one session: the one that was prompted last.
    const shown = this.server || !shared.current || shared.current === root.id
    if (!shown && !(main && this.begins(item))) return
    const own = handler.call(this, item, root, this.of(id), properties)
    if (own) this.tell(item, root, main ? undefined : id, own)
    if (main && name === "session.deleted" && !this.server) {
      shared.current = undefined
      this.announce()
    }
  }

  // Whether a session takes the place of the one that the terminal shows.
  begins({ name, properties }) {
    const works = shared.current && this.of(shared.current).turn
    const busy = agent === "mimocode" && properties.status?.type === "busy"
    return name === "chat.message" || (!works && (name === "session.created" || busy))
  }

  tell(item, root, thread, own) {
    if (!this.server) shared.current = root.id
    root.told = true
    const vigil = { session: root.id, thread, seq: ++shared.seq, ...item.own, ...own }
    if (this.server) vigil.server = true
    const properties = { sessionID: item.id, ...item.properties }
    send(item.name, { type: item.name, properties, cwd: this.directory, vigil }, item.at)
  }

  // An event of a root session: what is to be added to it, or nothing where it tells nothing.
  main(item, root, _one, p) {
    switch (item.name) {
      case "session.created":
      case "session.updated": {
        const title = UNTITLED.test(p.info.title ?? "") ? undefined : p.info.title
        const news = title !== root.title
        root.title = title
        p.info.title = title
        return item.name === "session.created" || (root.told && news) ? {} : undefined
      }
      case "session.deleted":
        this.known.delete(root.id)
        return {}
      case "chat.message":
        Object.assign(root, { turn: true, refused: false, interrupted: false, text: undefined, state: "prompted" })
        Object.assign(root, { step: undefined, answered: agent === "mimocode" })
        return {}
      case "session.status":
        return this.status(root, p.status)
      case "session.error": {
        // A hook of MiMo's that failed, and no turn.
        if (/\bhook\b.*\bfailed\b/i.test(p.error.data.message ?? "")) return undefined
        const aborted = p.error.name === "MessageAbortedError"
        if (aborted && !root.turn) return undefined
        Object.assign(root, { turn: false, interrupted: aborted })
        root.requests.clear()
        return {}
      }
      case "session.drain.interrupted": {
        const news = !root.interrupted
        Object.assign(root, { turn: false, interrupted: true })
        return news ? {} : undefined
      }
      case "tool.execute.before":
        Object.assign(root, { turn: true, refused: false, answered: true })
        return {}
      case "background_process.deleted":
        return {}
      case "tool.execute.after":
        // While a call waits for the user, the end of another one shows nothing; ends of later calls would seem to
        // show that the question is over.
        return root.requests.size ? undefined : {}
      default:
        return this.request(item, root, root, p) ?? this.actor(item, p)
    }
  }

  // An event of a child session: it counts while it works, and what it asks is asked.
  child(item, root, one, p) {
    switch (item.name) {
      case "session.status": {
        const busy = p.status.type !== "idle"
        if (busy === Boolean(one.busy)) return undefined
        one.busy = busy
        p.status.type = busy ? "busy" : "idle"
        return {}
      }
      case "session.deleted":
        this.known.delete(one.id)
        return one.busy ? {} : undefined
      default:
        return this.request(item, root, one, p) ?? this.actor(item, p)
    }
  }

  // Busy is said before and after each step, and for the user's own shell commands and compactions too: a turn begins
  // with its prompt. MiMo's prompts were not seen, so there a turn begins with busy as well.
  status(root, { type }) {
    const before = root.state
    root.state = type
    switch (type) {
      case "busy": {
        root.refused = false
        const goes = root.turn && ["retry", "offline"].includes(before)
        const begins = agent === "mimocode" && !root.turn
        if (!goes && !begins) return undefined
        Object.assign(root, { turn: true, interrupted: false, text: begins ? undefined : root.text })
        if (begins) root.answered = true
        return {}
      }
      case "retry":
      case "offline":
        root.turn = true
        return {}
      case "idle": {
        const told = root.turn || root.requests.size > 0
        // The user said no, gave up waiting, or interrupted before the first word: then there is no error (1.18.33).
        const quiet = Boolean(root.refused) || ["retry", "offline"].includes(before) || !root.answered
        root.turn = false
        root.interrupted ||= quiet
        root.requests.clear()
        return told ? { quiet, message: root.text } : undefined
      }
      default:
        return undefined
    }
  }

  request(item, root, one, p) {
    const [, kind] = /^(?:permission|question)\.(?:v2\.)?(asked|replied|rejected)$/.exec(item.name) ?? []
    if (kind === "asked") {
      one.requests.set(p.id, true)
      return {}
    }
    if (!kind) return undefined
    one.requests.delete(p.requestID)
    if (one === root && (kind === "rejected" || p.reply === "reject")) root.refused = true
    return {}
  }

  // MiMo's subagents work inside the session of their parent.
  actor(item, p) {
    const key = `${item.id}/${p.actorID}`
    if (item.name === "actor.registered") {
      const counts = ["subagent", "peer"].includes(p.mode) && !HELPERS.includes(p.agent)
      if (counts && this.actors.size < SESSIONS) this.actors.set(key, { id: p.mode === "peer" ? p.actorID : key })
      return undefined
    }
    const one = item.name === "actor.status" ? this.actors.get(key) : undefined
    const busy = p.status === "running"
    if (!one || Boolean(one.busy) === busy || (!busy && p.status !== "idle")) return undefined
    one.busy = busy
    return { thread: one.id }
  }

  text(id, text) {
    const one = this.known.get(id)
    if (one?.parent !== null) return
    one.text = cut(text)?.trim() || one.text
    one.answered = true
  }

  // One step of an answer. It has come to something once it says why it ended, or calls a tool. Of MiMo's, nobody could
  // say whose they are: its subagents share the session.
  step({ role, id, sessionID, finish }) {
    const one = this.known.get(sessionID)
    if (agent === "mimocode" || role !== "assistant" || one?.parent !== null) return
    if (one.step !== id) Object.assign(one, { step: id, answered: false })
    if (finish) one.answered = true
  }

  background(id, args, output) {
    const [, task] = /^id: (\S+)/m.exec(output ?? "") ?? []
    const [, pid] = /^pid: (\d+)/m.exec(output ?? "") ?? []
    const root = this.known.get(id)?.parent === null
    if (args?.action !== "start" || !task || !pid || !root) return {}
    const over = () => this.note("background_process.deleted", id, { processID: task })
    watch(task, Number(pid), over)
    return { background: task }
  }

  // ---- the program's beginning and end ----

  // The program is there, and has no session yet.
  announce() {
    if (!this.terminal || shared.current) return
    shared.current = `${agent}-${process.pid}`
    this.of(shared.current).parent = null
    const payload = { session_id: shared.current, waiting: true, cwd: this.directory, seq: ++shared.seq }
    send("session-start", payload)
  }

  close() {
    this.asking = false
    for (const item of this.inbox.splice(0)) {
      for (let unknown; (unknown = this.unknown(item)); ) this.of(unknown).parent = false
      this.take(item)
    }
    const told = [...this.known.values()].filter((one) => one.told && one.parent === null).map((one) => one.id)
    const over = this.server ? told : [shared.current].filter(Boolean)
    for (const id of over) send("session-end", { session_id: id, cwd: this.directory, seq: ++shared.seq })
    if (!this.server) shared.current = undefined
    shared.closing.add(this.directory)
    shared.open.delete(this.directory)
    flush()
  }
}

export const Vigil = async ({ client, directory }) => {
  const place = directory ?? process.cwd()
  // A copy of this file in a second folder has nothing to add.
  if (shared.open.has(place)) return {}
  shared.open.add(place)
  const sessions = new Sessions(client, place)
  const safely = (act) => async (input, output) => {
    try {
      act(input ?? {}, output ?? {})
    } catch {
      // The agent is not to hear of it.
    }
  }
  const start = () => sessions.announce()
  if (shared.closing.has(place)) {
    // It ends; or it has only read its settings anew, which shows by its being there a while later.
    const timer = setTimeout(() => {
      shared.closing.delete(place)
      safely(start)()
    }, RELOADED)
    timer.unref?.()
  } else {
    safely(start)()
  }
  return {
    event: safely(({ event }) => {
      const read = READ[event.type]
      const properties = event.properties ?? {}
      if (event.type === "message.updated") sessions.step(properties.info)
      if (read) sessions.note(event.type, properties.sessionID ?? properties.info?.id, read(properties))
    }),
    "chat.message": safely(({ sessionID, model }, { message, parts }) => {
      const texts = (parts ?? []).filter((part) => part.type === "text")
      const automatic = texts.length > 0 && texts.every((part) => part.synthetic === true)
      const used = (model ?? message?.model)?.modelID
      sessions.note("chat.message", sessionID, { model: cut(used) }, { automatic })
    }),
    "tool.execute.before": safely(({ tool, sessionID, callID }, { args }) => {
      sessions.note("tool.execute.before", sessionID, { tool: cut(tool), callID, args: pick(args, ARGUMENTS) })
    }),
    "tool.execute.after": safely(({ tool, sessionID, callID, args }, { output }) => {
      const own = tool === "background_process" ? sessions.background(sessionID, args, cut(output)) : {}
      sessions.note("tool.execute.after", sessionID, { tool: cut(tool), callID }, own)
    }),
    "experimental.text.complete": safely(({ sessionID }, { text }) => sessions.text(sessionID, text)),
    dispose: safely(() => sessions.close()),
  }
}
