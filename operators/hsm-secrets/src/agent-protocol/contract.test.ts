import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { AGENT_METHODS, type AgentMethod, type AgentResponse, loadContract } from './contract.ts';
import {
  metadataFromMessage,
  metadataInputFromMessage,
  metadataInputToMessage,
  metadataToMessage,
  secretFromMessage,
  secretToMessage,
  statusFromMessage,
  statusToMessage,
  summaryFromMessage,
} from './convert-messages.ts';

async function overTheWire<M extends AgentMethod>(method: M, response: AgentResponse<M>): Promise<AgentResponse<M>> {
  const { responseSerialize, responseDeserialize } = (await loadContract())[method];
  return responseDeserialize(responseSerialize(response));
}

const METADATA = {
  version: 2 ** 40,
  timestamp: '2026-01-01T00:00:00Z',
  isDeleted: true,
  description: '',
  labels: { a: 'b', ['__proto__']: '' },
  format: 'json',
  dataType: 'pem',
  createdAt: '2025-01-01T00:00:00Z',
  source: 'api',
};
const UNKNOWN = undefined;
const EMPTY_METADATA = {
  ...{ version: 0, timestamp: UNKNOWN, isDeleted: false, description: UNKNOWN, labels: {} },
  ...{ format: UNKNOWN, dataType: UNKNOWN, createdAt: UNKNOWN, source: UNKNOWN },
};
const TOKEN = {
  label: 'a',
  serialNumber: 'b',
  manufacturer: 'c',
  model: 'd',
  isUserPinInitialized: true,
  isPinCountLow: false,
  isPinFinalTry: true,
  isPinLocked: false,
};

it('has the methods of the service', async () => {
  const contract = await loadContract();
  expect(Object.keys(contract)).toEqual(AGENT_METHODS);
  expect(Object.values(contract).map(({ path }) => path)).toEqual(
    AGENT_METHODS.map((method) => `/hsm.v1.HSMAgent/${method}`),
  );
});

it.each([[METADATA], [EMPTY_METADATA]])('transfers metadata', async (metadata) => {
  const received = await overTheWire('ReadMetadata', metadataToMessage(metadata));
  expect(metadataFromMessage(received)).toStrictEqual(metadata);
});

it('accepts from a writer only what a writer may choose', async () => {
  const { description, labels, format, dataType, source } = METADATA;
  const chosen = { description, labels, format, dataType, source };
  const received = await overTheWire('ReadMetadata', metadataInputToMessage(chosen));
  expect(metadataInputFromMessage(received)).toStrictEqual(chosen);
  expect(metadataInputFromMessage(metadataToMessage(METADATA))).toStrictEqual(chosen);
});

it('transfers a secret, with any bytes and any key', async () => {
  const data = { a: Buffer.from([0, 255]), empty: Buffer.alloc(0), ['__proto__']: Buffer.from('x') };
  const secret = { data, metadata: METADATA, checksum: 'abc' };
  const received = secretFromMessage(await overTheWire('ReadSecret', secretToMessage(secret)));
  expect(received).toStrictEqual(secret);
  expect(Object.keys(received.data)).toEqual(['a', 'empty', '__proto__']);
});

it.each([
  { path: 'a', version: 3, timestamp: 'b', isDeleted: false, checksum: 'c', keys: ['d', 'e'] },
  { path: 'a', version: 0, timestamp: UNKNOWN, isDeleted: true, checksum: UNKNOWN, keys: [] },
])('transfers a summary', async (summary) => {
  expect(summaryFromMessage(await overTheWire('GetChecksum', summary))).toStrictEqual(summary);
});

it.each([
  { token: TOKEN, isLoggedIn: true, problem: UNKNOWN, isSimulated: true, wasProvisioned: true },
  {
    token: UNKNOWN,
    isLoggedIn: false,
    problem: { reason: 'a', message: 'b' },
    isSimulated: false,
    wasProvisioned: false,
  },
])('transfers a status', async (status) => {
  expect(statusFromMessage(await overTheWire('GetInfo', statusToMessage(status)))).toStrictEqual(status);
});

it('is loaded only by processes that call or serve an agent', async () => {
  const folder = fileURLToPath(new URL('..', import.meta.url));
  const files = ['agent/agent-command', 'agent/run-agent', 'agent-client/agent-clients', 'operator'];
  const script = `
    import { createRequire } from 'node:module';
    const { cache } = createRequire(${JSON.stringify(import.meta.url)});
    const loaded = () => Object.keys(cache).some((path) => path.includes('@grpc'));
    for (const file of ${JSON.stringify(files)}) await import(${JSON.stringify(folder)} + file + '.ts');
    const before = loaded();
    await (await import(${JSON.stringify(folder)} + 'agent-protocol/contract.ts')).loadContract();
    console.log(JSON.stringify([before, loaded()]));`;
  const args = ['--conditions=@bowline/source', '--import=tsx', '--input-type=module', '--eval', script];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(JSON.parse(stdout)).toEqual([false, true]);
});
