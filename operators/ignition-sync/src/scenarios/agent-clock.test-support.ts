import type { ChildProcess } from 'node:child_process';
import { VirtualClock } from '@bowline/machinery';

/** Advance is the message that advances the clock of an agent. The agent returns its id when the timers that were due have run. */
interface Advance {
  readonly id: number;
  readonly ms: number;
}

/** Advanced is the agent's response to an Advance. */
type Advanced = Pick<Advance, 'id'>;

/** A test would wait for ever if an agent that hangs had no limit; every real pause is shorter. */
const MAX_RESPONSE_MS = 60_000;

/** AgentClock is the clock of agents in other processes. It stands still unless a test advances it. */
export class AgentClock {
  readonly #agents = new Set<ChildProcess>();
  readonly #clock = new VirtualClock();
  #lastId = 0;

  /** now returns the wall time, at which the clock of the next agent starts. */
  now(): number {
    return this.#clock.now();
  }

  /** monotonic returns how far the clock was advanced, in milliseconds. */
  monotonic(): number {
    return this.#clock.monotonic();
  }

  /** attach makes an agent follow this clock until it exits. Its process needs an IPC channel. */
  attach(agent: ChildProcess): void {
    this.#agents.add(agent);
    agent.once('exit', () => this.#agents.delete(agent));
  }

  /** advance moves time forward, and waits until the timers of all agents that are due have run. */
  async advance(ms: number): Promise<void> {
    await Promise.all([this.#clock.advance(ms), ...[...this.#agents].map((agent) => this.#advance(agent, ms))]);
  }

  /** An agent that exits meanwhile no longer needs the time. */
  async #advance(agent: ChildProcess, ms: number): Promise<void> {
    const id = ++this.#lastId;
    await new Promise<void>((resolve, reject) => {
      const end = (): void => {
        agent.off('message', onMessage).off('exit', end);
        clearTimeout(limit);
        resolve();
      };
      const onMessage = (message: Advanced): void => {
        if (message.id === id) end();
      };
      const limit = setTimeout(() => reject(new Error('the agent does not respond to its clock')), MAX_RESPONSE_MS);
      agent.on('message', onMessage).on('exit', end);
      agent.send({ id, ms } satisfies Advance, (error) => {
        if (error !== null) end();
      });
    });
  }
}

/** followClock returns, in the process of an agent, the clock that the parent process advances. The process exits with its parent. */
export function followClock(startMs: number): VirtualClock {
  const clock = new VirtualClock({ startMs });
  const advance = async ({ id, ms }: Advance): Promise<void> => {
    await clock.advance(ms);
    process.send?.({ id } satisfies Advanced);
  };
  process.on('message', (message: Advance) => void advance(message));
  process.once('disconnect', () => process.exit());
  return clock;
}

/** unfollowClock lets the process of an agent exit. */
export function unfollowClock(): void {
  process.removeAllListeners('disconnect');
  if (process.connected) process.disconnect();
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
