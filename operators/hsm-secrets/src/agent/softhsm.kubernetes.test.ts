import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { VirtualClock } from '@bowline/machinery';
import { describe, expect, it, vi } from 'vitest';
import { AgentClients } from '../agent-client/agent-clients.ts';
import { MANAGER_NAME } from '../api/names.ts';
import { testAuthority, testIdentity } from './agent-identities.test-support.ts';
import { startAgent } from './agent-process.test-support.ts';
import { SERVER_NAME } from './running-agent.test-support.ts';
import { PINS, pkcs11Tools, type SoftHsmDevice, softHsmDevice } from './softhsm-worker.test-support.ts';

const tools = await pkcs11Tools();
const waiting = { timeout: 20_000, interval: 20 };

async function deviceWithToken(): Promise<SoftHsmDevice> {
  if ('skippedBecause' in tools) throw new Error(tools.skippedBecause);
  const device = await softHsmDevice(tools);
  await device.tokens.initToken('pico', PINS);
  return device;
}

async function blankDevice(): Promise<SoftHsmDevice> {
  if ('skippedBecause' in tools) throw new Error(tools.skippedBecause);
  return await softHsmDevice(tools);
}

const READY = { isLoggedIn: true, problem: undefined };
const DATA = { password: Buffer.from([0, 255, 10]), user: Buffer.from('ünïcode') };

/** childrenOf returns the processes that a process has started. */
async function childrenOf(parent: number): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0);
  const parents = await Promise.all(pids.map(async (pid) => [pid, (await stateOf(pid))[1]] as const));
  return parents.flatMap(([pid, found]) => (found === String(parent) ? [pid] : []));
}

async function isRunning(pid: number): Promise<boolean> {
  const [state] = await stateOf(pid);
  return state !== undefined && state !== 'Z';
}

/** stateOf returns the state and the parent of a process. */
async function stateOf(pid: number): Promise<readonly string[]> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return text === undefined ? [] : text.slice(text.lastIndexOf(')') + 2).split(' ');
}

if ('skippedBecause' in tools) it.skip(`scenario 40 with SoftHSM2: ${tools.skippedBecause}`, () => undefined);
else {
  describe('scenario 40: an agent uses SoftHSM2', () => {
    it('writes, reads, lists and deletes secrets', async () => {
      await using device = await deviceWithToken();
      await using worker = device.start();
      const { service } = worker;
      expect(await service.status()).toMatchObject({ ...READY, token: { label: 'pico', model: 'SoftHSM v2' } });
      const written = await service.write('team/db', DATA, { description: 'a' }, { replaces: 0 });
      await service.write('team/db-prod', { large: Buffer.alloc(1024 * 1024 - 64, 7) }, {});
      const read = await service.read('team/db');
      expect(read).toMatchObject({ data: DATA, checksum: written.checksum, metadata: { version: 1 } });
      expect((await service.read('team/db-prod')).data.large?.equals(Buffer.alloc(1024 * 1024 - 64, 7))).toBe(true);
      await expect(service.write('team/db', DATA, {}, { replaces: 7 })).rejects.toMatchObject({
        problem: 'VersionMismatch',
      });
      await service.remove('team/db', undefined, { replaces: 1 });
      expect((await service.list('')).map(({ path, isDeleted }) => [path, isDeleted]).sort()).toEqual([
        ['team/db', true],
        ['team/db-prod', false],
      ]);
      await expect(service.read('team/db')).rejects.toMatchObject({ problem: 'NotFound' });
    });

    it('finds more objects than a page of the search has', async () => {
      await using device = await deviceWithToken();
      await using worker = device.start();
      const data = Object.fromEntries(Array.from({ length: 70 }, (_, index) => [`key-${index}`, Buffer.from('x')]));
      await worker.service.write('many', data, {});
      expect(Object.keys((await worker.service.read('many')).data)).toHaveLength(70);
    });

    it('keeps secrets over a restart of the worker, and finds a token by its label after its slot changed', async () => {
      await using device = await deviceWithToken();
      const config = { tokenLabel: 'pico', slotId: 0 };
      {
        await using worker = device.start({ config });
        await worker.service.write('team/db', DATA, {});
      }
      // Another token, and the order of slots may be another.
      await device.tokens.initToken('other', PINS);
      await using worker = device.start({ config });
      expect(await worker.service.read('team/db')).toMatchObject({ data: DATA });
      await using ambiguous = device.start();
      expect((await ambiguous.service.status()).problem).toMatchObject({
        reason: 'TokenNotFound',
        message: expect.stringMatching(/there are 2 tokens; .*"(pico|other)" \(serial number [0-9a-f]+\)/),
      });
    });

    it('finds the token by its serial number', async () => {
      await using device = await deviceWithToken();
      const serialNumber = await (async () => {
        await using worker = device.start();
        return (await worker.service.status()).token?.serialNumber ?? '';
      })();
      await device.tokens.initToken('other', PINS);
      await using worker = device.start({ config: { serialNumber: serialNumber.toUpperCase() } });
      expect((await worker.service.status()).token).toMatchObject({ label: 'pico', serialNumber });
    });

    it('changes the PIN', async () => {
      await using device = await deviceWithToken();
      {
        await using worker = device.start();
        await worker.service.write('team/db', DATA, {});
        await worker.service.changePin(Buffer.from('another pin'));
        expect(await worker.service.read('team/db')).toMatchObject({ data: DATA });
      }
      await device.writePin('another pin', 'pin.next');
      {
        await using worker = device.start();
        expect(await worker.service.status()).toMatchObject(READY);
      }
      await device.writePin('another pin');
      await using worker = device.start();
      expect(await worker.service.read('team/db')).toMatchObject({ data: DATA });
    });

    it('tries a wrong PIN once, also after restarts, and logs in with the correct one', async () => {
      await using device = await deviceWithToken();
      await device.writePin('wrong');
      for (let starts = 0; starts < 2; starts++) {
        await using worker = device.start();
        for (let calls = 0; calls < 3; calls++) {
          const { isLoggedIn, problem, token } = await worker.service.status();
          expect([isLoggedIn, problem?.reason, token?.isPinCountLow]).toEqual([false, 'PINIncorrect', true]);
        }
        await expect(worker.service.read('a')).rejects.toMatchObject({ problem: 'PINIncorrect' });
        expect(JSON.stringify(worker.lines)).not.toContain('wrong');
      }
      await using worker = device.start();
      await device.writePin(PINS.pin);
      expect(await worker.service.status()).toMatchObject({ ...READY, token: { isPinCountLow: false } });
    });

    it('is uncertain about a PIN that another program may have entered, and tries it on request', async () => {
      await using device = await deviceWithToken();
      if (!device.tokens.pkcs11Tool) return;
      await expect(device.tokens.pkcs11Tool('--login', '--pin', 'nonsense', '-O')).rejects.toThrow('PIN');
      await using worker = device.start();
      expect((await worker.service.status()).problem).toMatchObject({ reason: 'PINUncertain' });
      expect(await worker.service.retryPin()).toMatchObject(READY);
    });

    it('restarts a worker that is killed, and one that hangs', async () => {
      await using device = await deviceWithToken();
      const clock = new VirtualClock();
      await using worker = device.start({ clock });
      const { service } = worker;
      await service.write('team/db', DATA, {});
      process.kill(service.workerPid ?? 0, 'SIGKILL');
      await vi.waitFor(() => expect(worker.lines).toHaveLength(1), waiting);
      await expect(service.read('team/db')).rejects.toMatchObject({ problem: 'Unavailable', retryable: true });
      await clock.advance(1_000);
      expect(await service.read('team/db')).toMatchObject({ data: DATA });
      const pid = service.workerPid;
      process.kill(pid ?? 0, 'SIGSTOP');
      const hanging = expect(service.read('team/db')).rejects.toMatchObject({ problem: 'Timeout' });
      await vi.waitFor(() => expect(clock.pendingTimers).toBe(1), waiting);
      await clock.advance(20_000);
      await hanging;
      expect(await service.read('team/db')).toMatchObject({ data: DATA });
      expect(service.workerPid).not.toBe(pid);
      expect(worker.lines.map(({ message, cause }) => [message, cause])).toEqual([
        ['worker ended, restarting it', 'signal SIGKILL'],
        ['worker did not respond, restarting it', 'signal SIGKILL'],
      ]);
    });

    it('opens the token again after it was unplugged', async () => {
      await using device = await deviceWithToken();
      await using worker = device.start();
      await worker.service.write('team/db', DATA, {});
      await device.tokens.unplug();
      // What cannot be read does not count as deleted.
      await expect(worker.service.read('team/db')).rejects.toMatchObject({ problem: 'Unavailable' });
      expect(await worker.service.status()).toMatchObject({ isLoggedIn: false, problem: { reason: 'TokenNotFound' } });
      await device.tokens.plug();
      expect(await worker.service.read('team/db')).toMatchObject({ data: DATA });
    });

    it('keeps PINs and values out of the arguments, the environment and the core dumps of the worker', async () => {
      await using device = await deviceWithToken();
      await using worker = device.start();
      await worker.service.write('team/db', DATA, {});
      const proc = (name: string): Promise<string> => readFile(`/proc/${worker.service.workerPid}/${name}`, 'latin1');
      expect(await proc('cmdline')).not.toContain(PINS.pin);
      expect(await proc('environ')).not.toContain(PINS.pin);
      expect(await proc('coredump_filter')).toBe('00000000\n');
    });

    it('explains a missing module, a file that is none, and a missing package', async () => {
      await using device = await deviceWithToken();
      const reasonFor = async (config: object): Promise<unknown> => {
        await using worker = device.start({ config });
        return (await worker.service.status()).problem;
      };
      expect(await reasonFor({ library: '/nonexistent.so' })).toMatchObject({
        reason: 'LibraryMissing',
        message: expect.stringContaining('/nonexistent.so does not exist'),
      });
      const none = join(device.config.stateFolder, 'none.so');
      await writeFile(none, 'nothing');
      expect(await reasonFor({ library: none })).toMatchObject({
        reason: 'LibraryMissing',
        message: expect.stringContaining('none.so cannot be loaded'),
      });
      expect(await reasonFor({ pkcs11js: 'pkcs11js-is-not-installed' })).toMatchObject({
        reason: 'Pkcs11Unavailable',
        message: expect.stringContaining('npm install pkcs11js@2.1.7'),
      });
    });

    it('initializes a blank token on request only, and once', async () => {
      await using device = await blankDevice();
      const config = { tokenLabel: 'fresh', autoProvision: true };
      {
        await using worker = device.start({ config: { tokenLabel: 'fresh' } });
        expect((await worker.service.status()).problem).toMatchObject({
          reason: 'TokenNotFound',
          message: expect.stringContaining('a blank token'),
        });
      }
      {
        await using worker = device.start({ config });
        expect(await worker.service.status()).toMatchObject({
          ...READY,
          token: { label: 'fresh', isUserPinInitialized: true },
          wasProvisioned: true,
        });
        expect(worker.lines).toMatchObject([{ message: 'initialized a blank token', label: 'fresh' }]);
        await worker.service.write('team/db', DATA, {});
      }
      await using worker = device.start({ config });
      expect(await worker.service.status()).toMatchObject({ ...READY, wasProvisioned: false });
      expect(await worker.service.read('team/db')).toMatchObject({ data: DATA });
    });

    it('initializes a blank token with the given PIN of the security officer, but not without a PIN', async () => {
      await using device = await blankDevice();
      const soPinFile = join(device.config.stateFolder, 'so-pin');
      await writeFile(soPinFile, PINS.soPin);
      await device.writePin('');
      await using worker = device.start({ config: { autoProvision: true, soPinFile } });
      expect((await worker.service.status()).problem).toMatchObject({ reason: 'PINMissing' });
      await device.writePin(PINS.pin);
      expect(await worker.service.status()).toMatchObject({ ...READY, token: { label: 'hsm-secrets' } });
      const officer = ['--login', '--login-type', 'so', '--so-pin', PINS.soPin];
      await device.tokens.pkcs11Tool?.(...officer, '--init-pin', '--new-pin', 'set by the officer');
    });
  });

  it('scenario 40: the manager uses the token through the agent, and no value or PIN leaves it otherwise', async () => {
    await using device = await deviceWithToken();
    const authority = await testAuthority();
    await using agent = await startAgent(device, authority);
    using clients = new AgentClients({ identity: { current: await testIdentity(authority, MANAGER_NAME, 'client') } });
    const token = clients.agent({ address: agent.address, serverName: SERVER_NAME });
    const value = Buffer.from('CANARY-value');
    await token.write('team/db', { value }, {}, { replaces: 0 });
    await device.writePin('CANARY-pin', 'pin.next');
    await token.changePin(Buffer.from('CANARY-pin'));
    await device.writePin('CANARY-pin');
    const [worker = 0, ...others] = await childrenOf(agent.pid);
    expect(others).toEqual([]);
    process.kill(worker, 'SIGSEGV');
    await vi.waitFor(() => expect(agent.output()).toContain('signal SIGSEGV'), waiting);
    await vi.waitFor(async () => expect((await token.read('team/db')).data).toEqual({ value }), waiting);
    expect(await agent.stop('SIGTERM')).toBe(0);
    expect(agent.output()).toContain('token is ready');
    expect(agent.output()).not.toMatch(/CANARY|4711/);
  });

  it('scenario 40: the worker ends with the agent, however that ends', async () => {
    await using device = await deviceWithToken();
    await using agent = await startAgent(device, await testAuthority());
    const workers = await childrenOf(agent.pid);
    expect(workers).toHaveLength(1);
    await agent.stop('SIGKILL');
    await vi.waitFor(async () => expect(await Promise.all(workers.map(isRunning))).toEqual([false]), waiting);
  });

  describe('scenario 40: other programs use the same token', () => {
    it.skipIf(!tools.softHsm.pkcs11Tool)('pkcs11-tool reads what the agent wrote', async () => {
      await using device = await deviceWithToken();
      await using worker = device.start();
      await worker.service.write('team/db', { password: Buffer.from('s3cret') }, { format: 'plaintext' });
      const login = ['--token-label', 'pico', '--login', '--pin', PINS.pin];
      const objects = await device.tokens.pkcs11Tool?.(...login, '--list-objects', '--type', 'data');
      expect(objects).toMatch(/application: +'hsm-secrets-operator'/);
      const label = /label: +'(team\/db\/password[^']*)'/.exec(objects ?? '')?.[1] ?? '';
      expect(await device.tokens.pkcs11Tool?.(...login, '-r', '--type', 'data', '--label', label)).toBe('s3cret');
    });

    it.skipIf(!tools.softHsm.pkcs11Tool)('the agent reads secrets of the earlier operator', async () => {
      await using device = await deviceWithToken();
      const { pkcs11Tool, path } = device.tokens;
      const put = async (label: string, value: string): Promise<void> => {
        const file = join(path, 'value');
        await writeFile(file, value);
        const login = ['--token-label', 'pico', '--login', '--pin', PINS.pin, '--private'];
        const object = ['--type', 'data', '--label', label, '--application-label', 'hsm-secrets-operator'];
        await pkcs11Tool?.(...login, '--write-object', file, ...object);
      };
      await put('team/db/username', 'scott');
      await put('team/db/password', 'tiger');
      await put('team/db/_metadata', JSON.stringify({ description: 'old', labels: { 'sync.version': '4' } }));
      await put('single', 'only a value');
      await using worker = device.start();
      expect(await worker.service.read('team/db')).toMatchObject({
        data: { username: Buffer.from('scott'), password: Buffer.from('tiger') },
        metadata: { description: 'old', version: 4 },
      });
      expect((await worker.service.read('single')).data).toEqual({ data: Buffer.from('only a value') });
    });
  });
}
