import type { ChildProcess } from 'node:child_process';
import { VirtualClock } from '@bowline/machinery';
import type { SyncStep } from '../engine/sync/sync-request.ts';

/** AgentHooks is what an agent's process does differently from the shipped command. It may change while the process runs. */
export interface AgentHooks {
  /** The free bytes of every volume. Defaults to what the system reports. */
  readonly freeBytes?: number | undefined;
  /** The step of a sync at which the process sends itself a signal. Defaults to none. */
  readonly stopsAt?: { readonly step: SyncStep; readonly signal: NodeJS.Signals } | undefined;
  /** Whether it lists before it watches, as with API servers that cannot stream lists. Defaults to false. */
  readonly withoutStreaming?: boolean | undefined;
}

/** Message is what a test tells the process of an agent. The process responds with the id when it has done it. */
type Message =
  /** Advances its clock, until the timers that are due have run. */
  | { readonly id: number; readonly advanceMs: number }
  /** Replaces its hooks. */
  | { readonly id: number; readonly hooks: AgentHooks };

type Response = Pick<Message, 'id'>;

/** A limit for agents that hang. */
const MAX_RESPONSE_MS = 60_000;
let lastId = 0;

/** changeHooks replaces the hooks of an agent. */
export async function changeHooks(agent: ChildProcess, hooks: AgentHooks): Promise<void> {
  await send(agent, { id: ++lastId, hooks });
}

/** send resolves when the agent has done what the message tells it, or has exited. */
async function send(agent: ChildProcess, message: Message): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const end = (): void => {
      agent.off('message', onResponse).off('exit', end);
      clearTimeout(limit);
      resolve();
    };
    const onResponse = ({ id }: Response): void => {
      if (id === message.id) end();
    };
    const limit = setTimeout(() => reject(new Error('the agent does not respond to its test')), MAX_RESPONSE_MS);
    agent.on('message', onResponse).on('exit', end);
    agent.send(message, (error) => {
      if (error !== null) end();
    });
  });
}

/** AgentClock is the clock of agents in other processes. It stands still unless a test advances it. */
export class AgentClock {
  readonly #agents = new Set<ChildProcess>();
  readonly #clock: VirtualClock;

  /** `clock` is advanced with those of the agents. Defaults to one of its own. */
  constructor(clock = new VirtualClock()) {
    this.#clock = clock;
  }

  /** now returns the wall time, at which the clock of the next agent starts. */
  now(): number {
    return this.#clock.now();
  }

  /** monotonic returns how far the clock was advanced, in milliseconds. */
  monotonic(): number {
    return this.#clock.monotonic();
  }

  /** attach makes an agent follow this clock until it exits. */
  attach(agent: ChildProcess): void {
    this.#agents.add(agent);
    agent.once('exit', () => this.#agents.delete(agent));
  }

  /** advance moves time forward, and waits until the timers of all agents that are due have run. */
  async advance(ms: number): Promise<void> {
    const agents = [...this.#agents].map((agent) => send(agent, { id: ++lastId, advanceMs: ms }));
    await Promise.all([this.#clock.advance(ms), ...agents]);
  }
}

/** How long an agent has for what does not depend on its clock: requests and processes. */
const PAUSE_MS = 20;

/**
 * advancing advances a clock by steps until a promise settles, while real work takes place. The work needs the pauses: a time limit
 * on the clock must not pass before a git process had the chance to end.
 */
export async function advancing<T>(clock: AgentClock, work: Promise<T>, stepMs = 1_000): Promise<T> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  done.catch(() => undefined);
  while (!isDone) {
    await clock.advance(stepMs);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return await done;
}

/** AgentChannel is the connection of an agent's process to its test. */
export interface AgentChannel extends Disposable {
  readonly hooks: AgentHooks;
  /** Undefined: the agent has the clock of the system. */
  readonly clock: VirtualClock | undefined;
}

/** The environment variables of the process. */
export const [HOOKS, CLOCK_START] = ['AGENT_HOOKS', 'AGENT_CLOCK_START_MS'] as const;

/** openChannel is called by the process of an agent. The process exits with its test; disposing of the channel lets it exit before. */
export function openChannel({ [HOOKS]: text = '{}', [CLOCK_START]: startMs }: NodeJS.ProcessEnv): AgentChannel {
  let hooks = JSON.parse(text) as AgentHooks;
  const clock = startMs === undefined ? undefined : new VirtualClock({ startMs: Number(startMs) });
  const act = async (message: Message): Promise<void> => {
    if ('hooks' in message) hooks = message.hooks;
    else await clock?.advance(message.advanceMs);
    process.send?.({ id: message.id } satisfies Response);
  };
  const onMessage = (message: Message): void => void act(message);
  const onDisconnect = (): void => process.exit();
  process.on('message', onMessage).once('disconnect', onDisconnect);
  return {
    get hooks() {
      return hooks;
    },
    clock,
    [Symbol.dispose]: () => {
      process.off('message', onMessage).off('disconnect', onDisconnect);
      if (process.connected) process.disconnect();
    },
  };
}
