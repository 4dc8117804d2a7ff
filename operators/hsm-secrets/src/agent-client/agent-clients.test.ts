import { VirtualClock } from '@bowline/machinery';
import { createMetrics } from '@bowline/runtime/manager';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type RunningAgent, runningAgent, SERVER_NAME, softwareService } from '../agent/running-agent.test-support.ts';
import type { AgentService } from '../agent-protocol/agent-service.ts';
import { isProblem } from '../agent-protocol/call-status.ts';
import { TokenError, type TokenProblem } from '../token/token-error.ts';
import type { TokenService } from '../token/token-service.ts';
import { AgentClients, type AgentClientsOptions } from './agent-clients.ts';

function clientsOf(agent: RunningAgent, options: Partial<AgentClientsOptions> = {}): AgentClients {
  const clients = new AgentClients({ identity: agent.manager, ...options });
  onTestFinished(() => clients[Symbol.dispose]());
  return clients;
}

function clientOf(agent: RunningAgent, options: Partial<AgentClientsOptions> = {}): AgentService {
  return clientsOf(agent, options).agent({ address: agent.address, serverName: SERVER_NAME });
}

/** failing returns a token whose reads and writes call a function. */
function failing(call: (method: 'read' | 'write') => Promise<never>): TokenService {
  return Object.assign(softwareService(), { read: () => call('read'), write: () => call('write') });
}

const PROBLEMS = [
  'NotFound',
  'VersionMismatch',
  'Invalid',
  'PINIncorrect',
  'PINUncertain',
  'PINFinalTry',
  'PINLocked',
  'PINMissing',
  'TokenNotFound',
  'LibraryMissing',
  'Pkcs11Unavailable',
  'Full',
  'Busy',
  'Unavailable',
  'Timeout',
] as const satisfies readonly TokenProblem[];

describe('a token behind an agent', () => {
  it('does what the token does', async () => {
    await using agent = await runningAgent();
    const token = clientOf(agent);
    expect(await token.status()).toMatchObject({
      token: { label: 'pico', serialNumber: 'A1', isUserPinInitialized: true, isPinLocked: false },
      isLoggedIn: true,
      problem: undefined,
      isSimulated: true,
      wasProvisioned: false,
    });
    const data = { password: Buffer.from([0, 1, 255]), empty: Buffer.alloc(0), ['__proto__']: Buffer.from('x') };
    const written = await token.write('team/db', data, { description: 'a', labels: { b: '' } }, { replaces: 0 });
    expect(written).toMatchObject({ path: 'team/db', version: 1, isDeleted: false });
    const secret = await token.read('team/db');
    expect(secret.data).toEqual(data);
    expect(secret.checksum).toBe(written.checksum);
    expect(secret.metadata).toEqual(await token.metadata('team/db'));
    expect(secret.metadata).toMatchObject({ version: 1, description: 'a', labels: { b: '' }, format: undefined });
    await token.write('team/db-2', { a: Buffer.from('b') }, {});
    expect((await token.list('team')).map(({ path }) => path).sort()).toEqual(['team/db', 'team/db-2']);
    expect(await token.checksums(['team/db', 'team/none'])).toEqual([written]);
    expect(await token.remove('team/db', 'empty', { replaces: 1 })).toMatchObject({ version: 2, isDeleted: false });
    expect(await token.remove('team/db', undefined)).toMatchObject({
      version: 3,
      isDeleted: true,
      checksum: undefined,
    });
    await token.purge('team/db', 3);
    await expect(token.metadata('team/db')).rejects.toMatchObject({ problem: 'NotFound' });
    const nonce = Buffer.alloc(16, 7);
    expect((await token.provePin(nonce)).length).toBe(32);
    const newPin = Buffer.from('98765');
    await token.changePin(newPin);
    expect(newPin.toString()).toBe('98765');
    expect(await token.retryPin()).toMatchObject({ isLoggedIn: true });
  });

  it.each(PROBLEMS)('rebuilds the error %s', async (problem) => {
    expect(isProblem(problem)).toBe(true);
    const error = new TokenError(problem, `a message, "quoted" and ünïcode: ${problem}`);
    await using agent = await runningAgent({ service: failing(() => Promise.reject(error)) });
    const caught: unknown = await clientOf(agent)
      .write('a', {}, {})
      .catch((each: unknown) => each);
    expect(caught).toBeInstanceOf(TokenError);
    expect(caught).toMatchObject({ problem, message: error.message, retryable: error.retryable });
  });

  it('reports no part of an unexpected error, neither to the client nor in the log', async () => {
    const error = new TypeError('cannot read CANARY\n    at CANARY');
    await using agent = await runningAgent({ service: failing(() => Promise.reject(error)) });
    await expect(clientOf(agent).read('a')).rejects.toThrow('the agent failed; see its log');
    expect(agent.lines).toMatchObject([
      { message: 'call failed unexpectedly', method: 'ReadSecret', error: 'TypeError' },
    ]);
    expect(JSON.stringify(agent.lines)).not.toContain('CANARY');
  });

  it('clears a new PIN once the token has it', async () => {
    let received: Buffer | undefined;
    const changePin = async (pin: Buffer): Promise<void> => {
      received = pin;
      expect(pin.toString()).toBe('98765');
    };
    await using agent = await runningAgent({ service: Object.assign(softwareService(), { changePin }) });
    await clientOf(agent).changePin(Buffer.from('98765'));
    expect(received).toEqual(Buffer.alloc(5));
  });

  it('transfers the largest secret, and refuses a message of more than 4 MiB', async () => {
    await using agent = await runningAgent();
    const token = clientOf(agent);
    const value = Buffer.alloc(1024 * 1024 - 16, 1);
    await token.write('large', { value }, {});
    expect((await token.read('large')).data.value?.equals(value)).toBe(true);
    await expect(token.write('large', { value: Buffer.alloc(4_200_000) }, {})).rejects.toMatchObject({
      problem: 'Invalid',
    });
    // The connection can still be used.
    expect((await token.metadata('large')).version).toBe(1);
  });
});

describe('limits', () => {
  it('refuses a call while 64 are in progress', async () => {
    const ends: (() => void)[] = [];
    const read = (): Promise<never> =>
      new Promise((_, reject) => ends.push(() => reject(new TokenError('NotFound', 'gone'))));
    await using agent = await runningAgent({ service: failing(read) });
    const token = clientOf(agent);
    const calls = Array.from({ length: 64 }, () => token.read('a'));
    const settled = Promise.allSettled(calls);
    await vi.waitFor(() => expect(ends).toHaveLength(64));
    await expect(token.read('b')).rejects.toMatchObject({ problem: 'Busy' });
    for (const end of ends) end();
    await settled;
    expect((await token.list('')).length).toBe(0);
  });

  it('ends a call after 30 s, and counts it until its work has ended', async () => {
    const clock = new VirtualClock();
    const signals: AbortSignal[] = [];
    const list = (_: string, signal?: AbortSignal) => never(signals, signal);
    const service = Object.assign(softwareService(), { list });
    await using agent = await runningAgent({ service, clock, maxCalls: 1 });
    const token = clientOf(agent);
    const call = token.list('');
    const failed = expect(call).rejects.toMatchObject({
      problem: 'Timeout',
      message: expect.stringContaining('ListSecrets'),
    });
    await vi.waitFor(() => expect(signals).toHaveLength(1));
    await clock.advance(29_999);
    expect(signals[0]?.aborted).toBe(false);
    await clock.advance(1);
    await failed;
    await expect(token.read('a')).rejects.toMatchObject({ problem: 'Busy' });
  });

  it('cancels a call whose caller leaves or whose time is over', async () => {
    const clock = new VirtualClock();
    const signals: AbortSignal[] = [];
    const list = (_: string, signal?: AbortSignal) => never(signals, signal);
    const service = Object.assign(softwareService(), { list });
    await using agent = await runningAgent({ service });
    const token = clientOf(agent, { clock, callTimeoutMs: 5_000 });
    const abort = new AbortController();
    const call = token.list('', abort.signal);
    await vi.waitFor(() => expect(signals).toHaveLength(1));
    abort.abort();
    await expect(call).rejects.toMatchObject({ problem: 'Timeout' });
    await vi.waitFor(() => expect(signals[0]?.aborted).toBe(true));
    const late = token.list('');
    const failed = expect(late).rejects.toMatchObject({ problem: 'Timeout' });
    await vi.waitFor(() => expect(signals).toHaveLength(2));
    await clock.advance(5_000);
    await failed;
    await vi.waitFor(() => expect(signals[1]?.aborted).toBe(true));
  });

  it('repeats reads of an unavailable token, but no writes', async () => {
    const calls: string[] = [];
    const service = failing((method) => {
      calls.push(method);
      return Promise.reject(new TokenError('Unavailable', 'the worker restarts'));
    });
    await using agent = await runningAgent({ service });
    const clock = new VirtualClock();
    const token = clientOf(agent, { clock });
    const reading = expect(token.read('a')).rejects.toMatchObject({ problem: 'Unavailable' });
    for (const attempts of [1, 2]) {
      // The timers of the call, of the idle connection and of the next attempt.
      await vi.waitFor(() => expect([calls.length, clock.pendingTimers]).toEqual([attempts, 3]));
      await clock.advance(1_000);
    }
    await reading;
    await expect(token.write('a', {}, {})).rejects.toMatchObject({ problem: 'Unavailable' });
    expect(calls).toEqual(['read', 'read', 'read', 'write']);
  });

  it('closes connections that are idle, and makes room for others', async () => {
    await using first = await runningAgent();
    await using second = await runningAgent();
    second.identity.replace(first.identity.current);
    const clock = new VirtualClock();
    const clients = clientsOf(first, { clock, maxConnections: 1, idleMs: 1_000 });
    const [a, b] = [first, second].map(({ address }) => clients.agent({ address, serverName: SERVER_NAME }));
    await a?.status();
    await b?.status();
    expect(clients.connections).toBe(1);
    await clock.advance(999);
    await b?.status();
    await clock.advance(999);
    expect(clients.connections).toBe(1);
    await clock.advance(1);
    expect([clients.connections, clock.pendingTimers]).toEqual([0, 0]);
    expect((await b?.status())?.isLoggedIn).toBe(true);
    const pending = a?.status();
    await expect(Promise.all([pending, b?.status()])).rejects.toMatchObject({ problem: 'Busy' });
    await pending;
    clients[Symbol.dispose]();
    await expect(a?.status()).rejects.toMatchObject({ problem: 'Unavailable' });
  });

  it('counts calls by method and code', async () => {
    await using agent = await runningAgent();
    const metrics = createMetrics();
    const token = clientOf(agent, { metrics });
    await token.status();
    await token.read('none').catch(() => undefined);
    const text = await metrics.render();
    expect(text).toContain('hsm_agent_calls_total{method="GetInfo",code="OK"} 1');
    expect(text).toContain('hsm_agent_calls_total{method="ReadSecret",code="NOT_FOUND"} 1');
    expect(text).toContain('hsm_agent_calls_total{method="WriteSecret",code="OK"} 0');
    expect(text).toContain('hsm_agent_call_duration_seconds_count{method="GetInfo"} 1');
  });
});

function never(signals: AbortSignal[], signal: AbortSignal | undefined): Promise<never> {
  if (signal) signals.push(signal);
  return new Promise(() => {});
}
