import { once } from 'node:events';
import { VirtualClock } from '@bowline/machinery';
import { type Fields, silentLog } from '@bowline/runtime/manager';
import { expect, it, vi } from 'vitest';
import { SupervisedTokenService, type SupervisedTokenServiceOptions } from './supervised-token-service.ts';
import { fakeWorker } from './worker-command.test-support.ts';

const command = await fakeWorker();

const CONFIG = { library: 'any', pinFile: '/pin', stateFolder: '/state', autoProvision: false };
const waiting = { timeout: 20_000, interval: 5 };

interface Running extends AsyncDisposable {
  readonly service: SupervisedTokenService;
  readonly clock: VirtualClock;
  readonly lines: readonly [message: string, fields: Fields | undefined][];
  /** echo returns what the fake worker received, and its process id. */
  echo(path?: string): Promise<{ readonly pid: number }>;
}

function start(options: Partial<SupervisedTokenServiceOptions> = {}): Running {
  const clock = new VirtualClock();
  const lines: [string, Fields | undefined][] = [];
  const error = (message: string, fields?: Fields): void => void lines.push([message, fields]);
  const log = { ...silentLog, error, warn: error };
  const service = new SupervisedTokenService({ config: CONFIG, command, clock, log, ...options });
  const stop = new AbortController();
  const running = service.run(stop.signal);
  return {
    service,
    clock,
    lines,
    echo: async (path = 'any') => (await service.read(path)) as unknown as { pid: number },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      expect(clock.pendingTimers).toBe(0);
    },
  };
}

/** The worker processes are waited for in real time: they end by themselves. */
const untilNoWorker = ({ service }: Running): Promise<void> =>
  vi.waitFor(() => expect(service.workerPid).toBeUndefined(), waiting);

/** stopWithHungWorker lets the time pass that a worker has to finish its call. */
async function stopWithHungWorker(running: Running): Promise<void> {
  const stopped = running[Symbol.asyncDispose]();
  await running.clock.advance(5_000);
  await stopped;
}

it('passes calls to the worker, with Buffers, and nothing on its command line', async () => {
  await using running = start();
  const { service } = running;
  const data = { password: Buffer.from([0, 255, 1]) };
  expect(await service.write('a/b', data, { labels: { x: 'y' } }, { replaces: 2 })).toMatchObject({
    method: 'write',
    args: ['a/b', data, { labels: { x: 'y' } }, { replaces: 2 }],
  });
  expect(await service.provePin(Buffer.from('nonce'))).toMatchObject({ areBuffers: true, argv: [] });
  await expect(service.read('missing')).rejects.toMatchObject({ problem: 'NotFound', message: 'there is no secret' });
  expect(running.lines).toEqual([['core dumps of the worker cannot be disabled on this system', undefined]]);
});

it('executes one call at a time, and skips those whose callers have left', async () => {
  await using running = start();
  const abort = new AbortController();
  const first = running.echo('1');
  const second = running.service.read('hang', abort.signal);
  abort.abort();
  await expect(second).rejects.toMatchObject({ problem: 'Timeout' });
  const third = running.echo('3');
  const [{ pid }, other] = await Promise.all([first, third]);
  expect(other.pid).toBe(pid);
});

it('kills a worker that hangs, and starts another at once', async () => {
  await using running = start();
  const { pid } = await running.echo();
  const hanging = running.service.read('hang');
  const next = running.echo();
  await vi.waitFor(() => expect(running.clock.pendingTimers).toBe(1), waiting);
  const failed = expect(hanging).rejects.toMatchObject({ problem: 'Timeout' });
  await running.clock.advance(20_000);
  await failed;
  expect((await next).pid).not.toBe(pid);
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  expect(running.lines).toContainEqual([
    'worker did not respond, restarting it',
    expect.objectContaining({ cause: 'signal SIGKILL', delayMs: 0 }),
  ]);
});

it('reports that it is unavailable while a crashed worker is restarted, after 1 s and then twice as long', async () => {
  await using running = start();
  for (const [path, cause, delayMs] of [
    ['crash', 'signal SIGKILL', 1_000],
    ['exit', 'exit code 3', 2_000],
    ['crash', 'signal SIGKILL', 4_000],
  ] as const) {
    await expect(running.echo(path)).rejects.toMatchObject({ problem: 'Unavailable', retryable: true });
    await untilNoWorker(running);
    await vi.waitFor(() => expect(running.lines.at(-1)?.[1]).toMatchObject({ cause, delayMs }), waiting);
    await expect(running.echo()).rejects.toMatchObject({ problem: 'Unavailable' });
    expect(await running.service.status()).toMatchObject({ isLoggedIn: false, problem: { reason: 'Unavailable' } });
    await running.clock.advance(delayMs - 1);
    expect(running.service.workerPid).toBeUndefined();
    await running.clock.advance(1);
    expect((await running.echo()).pid).toBe(running.service.workerPid);
  }
});

it('kills a worker that does not become ready', async () => {
  const running = start({ config: { ...CONFIG, library: 'hang' } });
  const pid = running.service.workerPid;
  const failed = expect(running.echo()).rejects.toMatchObject({ problem: 'Unavailable' });
  await running.clock.advance(20_000);
  await failed;
  expect(() => process.kill(pid ?? 0, 0)).toThrow('ESRCH');
  // The next worker hangs as well, so it ends only when it is killed.
  await stopWithHungWorker(running);
});

it('reports a program that cannot be started, and unexpected errors by their name only', async () => {
  await using running = start();
  await expect(running.echo('bug')).rejects.toMatchObject({ problem: 'Unavailable' });
  expect(running.lines.at(-1)).toEqual(['worker failed unexpectedly', { error: 'TypeError', at: ['at somewhere'] }]);
  await using missing = start({ command: { program: '/nonexistent/worker', args: [] } });
  await expect(missing.echo()).rejects.toMatchObject({ problem: 'Unavailable' });
  await vi.waitFor(() => expect(missing.lines.at(-1)?.[1]?.cause).toBe('it cannot be started (ENOENT)'), waiting);
});

it('ends the worker when it stops, also if the worker hangs', async () => {
  const running = start();
  const { pid } = await running.echo();
  const hanging = running.service.read('hang');
  hanging.catch(() => undefined);
  await vi.waitFor(() => expect(running.clock.pendingTimers).toBe(1), waiting);
  await stopWithHungWorker(running);
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  await expect(hanging).rejects.toMatchObject({ problem: 'Unavailable' });
});

it('ends the worker with the process that started it', async () => {
  const { spawn } = await import('node:child_process');
  const { program, args } = command;
  const parent = spawn(
    program,
    [
      '-e',
      `const { spawn } = require('node:child_process');
      const child = spawn(process.execPath, ${JSON.stringify(args)}, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
      child.on('message', () => console.log(child.pid));
      child.send({ kind: 'configure', config: { library: 'any' } });`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(line.toString());
  expect(process.kill(pid, 0)).toBe(true);
  parent.kill('SIGKILL');
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), waiting);
});
