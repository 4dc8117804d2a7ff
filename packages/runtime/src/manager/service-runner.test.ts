import { untilAborted, VirtualClock } from '@bowline/machinery';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Cache } from '../cache/cache.ts';
import { createClient } from '../client/create-client.ts';
import { silentLog } from '../observability/log.ts';
import type { Service } from '../operator/service.ts';
import { MemoryApiServer } from '../testing/memory-api-server.ts';
import { serviceInformers } from './service-informers.ts';
import { ServiceRunner } from './service-runner.ts';

/** start runs a service until the test ends. */
function start(run: Service<undefined>['run']) {
  const clock = new VirtualClock();
  const client = createClient({ transport: new MemoryApiServer({ wire: clock }).transport('test') });
  const informer = serviceInformers(
    { name: 'shop', controllers: [], webhooks: [] },
    { cache: new Cache({ client }), installName: 'shop' },
  );
  const options = { operator: 'shop', client, informer, clock, random: { next: () => 0.5 }, log: silentLog };
  const runner = new ServiceRunner({ name: 'api', run }, options);
  const stop = new AbortController();
  const running = runner.run(stop.signal, undefined);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  return { runner, clock, stop, running };
}

describe('ServiceRunner', () => {
  it('keeps the reported port until the service ends', async () => {
    const { runner, stop, running } = start(async (signal, _, { listensOn }) => {
      listensOn(8443);
      await untilAborted(signal);
    });
    expect([runner.state, runner.port, runner.check()]).toEqual(['running', 8443, undefined]);
    stop.abort();
    await running;
    expect([runner.state, runner.port]).toEqual(['ended', undefined]);
  });

  it('calls the readiness check of the service, which fails while it is restarted and until it is added again', async () => {
    let problem: string | undefined = 'no certificate yet';
    let fail: (error: Error) => void = () => {};
    let runs = 0;
    const { runner, clock } = start(async (signal, _, { listensOn, readiness }) => {
      if (++runs === 2) return await untilAborted(signal);
      readiness(() => (problem === undefined ? { ok: true } : { ok: false, message: problem }));
      listensOn(8443);
      await new Promise<void>((_, reject) => {
        fail = reject;
      });
    });
    const name = 'service-shop-api';
    expect(runner.check()).toEqual({ name, ok: false, message: 'no certificate yet' });
    problem = undefined;
    expect(runner.check()).toEqual({ name, ok: true });
    fail(new Error('broken'));
    await clock.advance(0);
    const restarting = { name, ok: false, message: 'it failed and is being restarted' };
    expect([runner.state, runner.port, runner.check()]).toEqual(['restarting', undefined, restarting]);
    await clock.advance(1_000);
    expect([runner.state, runner.check()]).toEqual(['running', restarting]);
  });

  it('has no readiness check once the service has returned, and ignores what it reports later', async () => {
    let report: (port: number) => void = () => {};
    const { runner, running } = start((_, __, { listensOn, readiness }) => {
      report = listensOn;
      readiness(() => ({ ok: false }));
      return Promise.resolve();
    });
    await running;
    report(8443);
    expect([runner.state, runner.port, runner.check()]).toEqual(['ended', undefined, undefined]);
  });
});
