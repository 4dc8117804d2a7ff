import { systemClock, VirtualClock } from '@bowline/machinery';
import { expect, onTestFinished } from 'vitest';
import { Cache } from '../cache/cache.ts';
import { createClient } from '../client/create-client.ts';
import { operatorIdentity } from '../identity/operator-identity.ts';
import { createMetrics } from '../observability/create-metrics.ts';
import { type Log, silentLog } from '../observability/log.ts';
import { MemoryApiServer } from '../testing/memory-api-server.ts';
import type { Controller } from './controller.ts';
import { type ControllerCache, ControllerRunner } from './controller-runner.ts';

/** RunControllerOptions configures how a controller is run. */
export interface RunControllerOptions {
  readonly server?: MemoryApiServer;
  readonly deps?: unknown;
  readonly log?: Log;
  /** The clock of watches and retries. Defaults to the system's. */
  readonly wire?: VirtualClock;
}

/**
 * runController runs a controller against a small server until the test ends; time stands still unless the test
 * advances it.
 */
export async function runController(declared: Controller<never>, options: RunControllerOptions = {}) {
  const server = options.server ?? new MemoryApiServer();
  const clock = new VirtualClock();
  const metrics = createMetrics({ process: false });
  const { wire = systemClock } = options;
  const client = createClient({ transport: server.transport(), wire });
  const cache = new Cache({
    client,
    pausedAnnotation: 'bowline.dev/paused',
    wire,
    ...(options.log && { log: options.log }),
  });
  const runner = new ControllerRunner(declared, {
    identity: operatorIdentity({ name: 'test', domain: 'bowline.dev' }),
    instance: 'here',
    cache: cache as unknown as ControllerCache,
    clock,
    random: { next: () => 0.5 },
    log: options.log ?? silentLog,
    metrics,
  });
  const stop = new AbortController();
  const over = new AbortController();
  const caching = cache.run(over.signal);
  const running = runner.run(stop.signal, { client, deps: options.deps, drainMs: 30_000 });
  onTestFinished(async () => {
    stop.abort();
    await clock.advance(30_000);
    await running;
    over.abort();
    await caching;
  });
  const until = async (condition: () => boolean): Promise<void> => {
    for (let turn = 0; turn < 2_000 && !condition(); turn++) await clock.advance(0);
    expect(condition()).toBe(true);
  };
  const isQuiet = (): boolean =>
    runner.state === 'running' && runner.entries().every((entry) => entry.state === 'delayed');
  /** Waits until every key that events have enqueued was processed. */
  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn++) await clock.advance(0);
    await until(isQuiet);
  };
  /** Waits until the events of the runs' own writes were processed too. */
  const steady = async (): Promise<void> => {
    for (let turn = 0, quiet = 0; quiet < 20; turn++) {
      expect(turn).toBeLessThan(5_000);
      await clock.advance(0);
      quiet = isQuiet() ? quiet + 1 : 0;
    }
  };
  await settled();
  return { server, clock, runner, client, metrics, stop, running, settled, steady, until };
}

/** collectingLog collects the messages of some levels. */
export function collectingLog(lines: string[], ...levels: readonly ('debug' | 'info' | 'warn' | 'error')[]): Log {
  const write = (message: string): void => void lines.push(message);
  const log: Log = { ...silentLog, ...Object.fromEntries(levels.map((level) => [level, write])), with: () => log };
  return log;
}
