import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { childrenOf, LeakSources } from '../../../../test/support/leak-sources.ts';
import { testAuthority, testIdentity } from '../agent/agent-identities.test-support.ts';
import { startAgent } from '../agent/agent-process.test-support.ts';
import { SERVER_NAME } from '../agent/running-agent.test-support.ts';
import { pkcs11Tools, softHsmDevice } from '../agent/softhsm-worker.test-support.ts';
import { MANAGER_NAME } from '../api/names.ts';
import { CANARIES } from './canary.test-support.ts';
import { remoteAgents } from './canary-agents.test-support.ts';

const tools = await pkcs11Tools();
const waiting = { timeout: 30_000, interval: 100 };

if ('skippedBecause' in tools) it.skip(`values and PINs with SoftHSM2: ${tools.skippedBecause}`, () => undefined);
else
  it('exposes no value and no PIN of a real token in its output, processes, files, errors and crashes', async () => {
    await using device = await softHsmDevice(tools);
    await device.tokens.initToken('pico', { pin: CANARIES.pin, soPin: 'officer' });
    await device.writePin(CANARIES.pin);
    const authority = await testAuthority();
    const sources = new LeakSources(Object.values(CANARIES));
    let agent = await startAgent(device, authority);
    const identity = await testIdentity(authority, MANAGER_NAME, 'client');
    const agents = remoteAgents(() => ({ identity, serverName: SERVER_NAME, addresses: { S1: agent.address } }));
    const service = () => agents.agentsOf({ name: 'pico' })[0]?.service ?? expect.fail('there is no agent');
    const failing = async (work: Promise<unknown>, problem: string): Promise<void> => {
      const error: unknown = await work.then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toMatchObject({ problem });
      sources.addError(error);
    };
    const record = async (): Promise<void> => {
      sources.add('output', agent.output());
      await sources.addFiles('files', agent.folder);
      const { stateFolder, pinFile } = device.config;
      await sources.addFiles('state', stateFolder, [pinFile, join(stateFolder, 'pin.next')]);
    };

    const value = Buffer.from(CANARIES.value);
    await service().write('team/db', { value }, {});
    await sources.addProcess('agent', agent.pid);
    await failing(service().write('team/db', { value }, {}, { replaces: 7 }), 'VersionMismatch');
    await failing(service().changePin(Buffer.from(CANARIES.wrongPin.repeat(20))), 'Invalid');
    for (const signal of ['SIGSEGV', 'SIGABRT'] as const) {
      const [worker = 0] = await childrenOf(agent.pid);
      process.kill(worker, signal);
      await vi.waitFor(() => expect(agent.output()).toContain(`signal ${signal}`), waiting);
      await failing(service().write('team/db', { value }, {}), 'Unavailable');
      await vi.waitFor(async () => expect((await service().read('team/db')).data).toEqual({ value }), waiting);
    }
    await device.writePin(CANARIES.newPin, 'pin.next');
    await service().changePin(Buffer.from(CANARIES.newPin));
    sources.add('crash', await agent.crash());
    await record();
    await agent[Symbol.asyncDispose]();

    await device.writePin(CANARIES.wrongPin);
    await device.writePin('', 'pin.next');
    agent = await startAgent(device, authority, { until: 'PINIncorrect' });
    await failing(service().read('team/db'), 'PINIncorrect');
    await sources.addProcess('agent', agent.pid);
    await record();
    await agent[Symbol.asyncDispose]();
    for (const source of ['output', 'files', 'state', 'crash', 'thrown errors', 'arguments of agent'])
      expect(sources.texts.get(source)?.length, source).toBeGreaterThan(0);
    expect(sources.leaks()).toEqual({});
  }, 90_000);
