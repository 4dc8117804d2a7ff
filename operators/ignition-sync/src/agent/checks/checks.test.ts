import { systemClock, VirtualClock } from '@bowline/machinery';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Answer, startLoopbackServer } from '../../testing/loopback-server.test-support.ts';
import { checkStageHealth } from './stage-health.ts';
import { MAX_CHANGES, type ValidationRequest, validateChanges } from './validation-webhook.ts';

const { signal } = new AbortController();

const REQUEST: ValidationRequest = {
  cr: 'plant',
  namespace: 'shop',
  gateway: 'site',
  fromCommit: 'a',
  toCommit: 'b',
  ref: 'main',
  changes: [{ path: 'projects/p/project.json', action: 'add' }],
};

async function serve(answer: Answer): Promise<string> {
  const server = await startLoopbackServer(answer);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return `http://127.0.0.1:${server.port}/check`;
}

const validate = (url: string, request: ValidationRequest = REQUEST, wire = systemClock) =>
  validateChanges({ url, timeout: '10s' }, request, { signal, wire });

describe('the validation webhook', () => {
  it('receives the changes, and admits them with any status of 2xx', async () => {
    let body = '';
    const url = await serve((_, response, sent) => {
      body = sent.toString();
      response.writeHead(204).end();
    });
    const changes = Array.from(
      { length: MAX_CHANGES + 1 },
      (_, index) => ({ path: `projects/p/${index}`, action: 'add' }) as const,
    );
    await validate(url, { ...REQUEST, changes });
    const received = JSON.parse(body) as ValidationRequest;
    expect(received).toMatchObject({ cr: 'plant', gateway: 'site', fromCommit: 'a', toCommit: 'b', ref: 'main' });
    expect(received.changes).toHaveLength(MAX_CHANGES);
  });

  it.each([
    [200, '{"allowed": false, "reason": "freeze"}', 'refused the sync: freeze'],
    [200, '{"allowed": false}', 'refused the sync: it gave no reason'],
    [200, `{"allowed": false, "reason": "${'x'.repeat(300)}"}`, `refused the sync: ${'x'.repeat(200)}`],
    [403, '{"reason": "freeze"}', 'answered with HTTP status 403: freeze'],
    [302, '', 'answered with HTTP status 302'],
    [500, 'not json', 'answered with HTTP status 500'],
  ])('stops the sync with %i %s', async (status, text, problem) => {
    const url = await serve((_, response) => response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end(text));
    const error = await validate(url).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ reason: 'ValidationRefused' });
    expect((error as Error).message.endsWith(problem)).toBe(true);
  });

  it('stops the sync if nothing answers in time', async () => {
    const wire = new VirtualClock();
    const url = await serve(() => wire.advance(10_000));
    await expect(validate(url, REQUEST, wire)).rejects.toMatchObject({
      reason: 'ValidationRefused',
      message: expect.stringContaining('did not answer (ETIMEDOUT)'),
    });
    await expect(validate('http://127.0.0.1:1/')).rejects.toMatchObject({
      message: expect.stringContaining('did not answer (ECONNREFUSED)'),
    });
  });

  it.each(['{"allowed": true}', 'ok', ''])('admits the sync with 200 %s', async (text) => {
    const url = await serve((_, response) => response.writeHead(200).end(text));
    await expect(validate(url)).resolves.toBeUndefined();
  });
});

describe('the health check of a stage', () => {
  const check = async (
    statuses: readonly number[],
  ): Promise<{ problem: string | undefined; calls: number; ms: number }> => {
    let calls = 0;
    const clock = new VirtualClock();
    const url = await serve((_, response) => response.writeHead(statuses[calls++] ?? 200).end());
    const checked = checkStageHealth(url, { signal, clock, wire: systemClock });
    let isDone = false;
    void checked.finally(() => {
      isDone = true;
    });
    while (!isDone) {
      await clock.advance(500);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return { problem: await checked, calls, ms: clock.monotonic() };
  };

  it('passes with 200 in one of three attempts', async () => {
    expect(await check([200])).toMatchObject({ problem: undefined, calls: 1 });
    expect(await check([500, 503, 200])).toMatchObject({ problem: undefined, calls: 3 });
  });

  it('fails after three attempts, with the last status', async () => {
    const { problem, calls } = await check([500, 204, 302, 200]);
    expect(calls).toBe(3);
    expect(problem).toContain('answered with HTTP status 302');
  });
});
