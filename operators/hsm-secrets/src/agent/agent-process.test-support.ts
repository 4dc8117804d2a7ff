import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CertificateWithKey, systemRandom } from '@bowline/machinery';
import { expect, vi } from 'vitest';
import { freePorts } from '../../../../packages/control-plane/src/ports.ts';
import { type CrashingProgram, startCrashing } from '../../../../test/support/crashing-program.ts';
import { testIdentity } from './agent-identities.test-support.ts';
import { SERVER_NAME } from './running-agent.test-support.ts';
import type { SoftHsmDevice } from './softhsm-worker.test-support.ts';

const waiting = { timeout: 20_000, interval: 20 };

/** AgentProcess is the command of the agent in a process of its own. */
export interface AgentProcess extends CrashingProgram {
  readonly address: string;
  /** The folder that it runs in, with its certificate. */
  readonly folder: string;
  /** health requests `/livez` or `/readyz`, and returns the text. */
  health(path: string): Promise<string>;
}

/** StartAgentOptions configures the start of an agent. */
export interface StartAgentOptions {
  /** How the response of /readyz begins when the agent counts as started. Defaults to `ok`. */
  readonly until?: string | undefined;
}

/** startAgent runs the command as in a container, and waits until its token is ready. */
export async function startAgent(
  device: Pick<SoftHsmDevice, 'config' | 'command'>,
  authority: CertificateWithKey,
  { until = 'ok' }: StartAgentOptions = {},
): Promise<AgentProcess> {
  const { library, pinFile, stateFolder, pkcs11js = '' } = device.config;
  const files = await certificateFolder(authority);
  const [port = 0, health = 0] = await freePorts(2, systemRandom);
  const flags = {
    ...{ library, pkcs11js, 'pin-file': pinFile, 'state-folder': stateFolder, 'tls-folder': files.path },
    ...{ listen: `127.0.0.1:${port}`, 'health-listen': `127.0.0.1:${health}`, 'token-label': 'pico' },
  };
  const args = Object.entries(flags).flatMap(([name, text]) => [`--${name}`, text]);
  const program = await startCrashing({
    folder: files.path,
    args: ['hsm-secrets', 'agent', ...args],
    env: device.command.env,
  });
  const agent: AgentProcess = {
    ...program,
    address: `127.0.0.1:${port}`,
    folder: files.path,
    health: async (path) => await (await fetch(`http://127.0.0.1:${health}${path}`)).text(),
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      await files[Symbol.asyncDispose]();
    },
  };
  const isStarted = expect.stringMatching(`^${until}`);
  await vi.waitFor(async () => expect(await agent.health('/readyz'), agent.output()).toEqual(isStarted), waiting);
  return agent;
}

async function certificateFolder(authority: CertificateWithKey): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'bowline-tls-'));
  const { certificate, bundlePem } = await testIdentity(authority, SERVER_NAME, 'server');
  await writeFile(join(path, 'tls.crt'), certificate.certificatePem);
  await writeFile(join(path, 'tls.key'), certificate.keyPem);
  await writeFile(join(path, 'ca.crt'), bundlePem);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}
