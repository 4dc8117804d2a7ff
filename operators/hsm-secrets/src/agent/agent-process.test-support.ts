import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CertificateWithKey, systemRandom } from '@bowline/machinery';
import { expect, vi } from 'vitest';
import { freePorts } from '../../../../packages/control-plane/src/ports.ts';
import { bundledProgram } from '../../../../test/support/bundled-program.ts';
import { testIdentity } from './agent-identities.test-support.ts';
import { SERVER_NAME } from './running-agent.test-support.ts';
import type { SoftHsmDevice } from './softhsm-worker.test-support.ts';

const waiting = { timeout: 20_000, interval: 20 };

/** AgentProcess is the command of the agent in a process of its own. */
export interface AgentProcess extends AsyncDisposable {
  readonly pid: number;
  readonly address: string;
  /** output returns everything that the process has printed. */
  output(): string;
  /** stop sends a signal, and returns the exit code. */
  stop(signal: NodeJS.Signals): Promise<number | null>;
}

/** startAgent runs the command as in a container, and waits until its token is ready. */
export async function startAgent(device: SoftHsmDevice, authority: CertificateWithKey): Promise<AgentProcess> {
  const { library, pinFile, stateFolder, pkcs11js = '' } = device.config;
  const files = await certificateFolder(authority);
  const [port = 0, health = 0] = await freePorts(2, systemRandom);
  const flags = {
    ...{ library, pkcs11js, 'pin-file': pinFile, 'state-folder': stateFolder, 'tls-folder': files.path },
    ...{ listen: `127.0.0.1:${port}`, 'health-listen': `127.0.0.1:${health}`, 'token-label': 'pico' },
  };
  const args = Object.entries(flags).flatMap(([name, text]) => [`--${name}`, text]);
  const program = await bundledProgram('apps/bowline/src/main.ts');
  const child = spawn(process.execPath, [program, 'hsm-secrets', 'agent', ...args], {
    env: device.command.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => output.push(text.toString()));
  const ended = once(child, 'close') as Promise<[number | null]>;
  const stop = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    return (await ended)[0];
  };
  await vi.waitFor(async () => {
    const response = await fetch(`http://127.0.0.1:${health}/readyz`);
    expect(await response.text(), output.join('')).toBe('ok');
  }, waiting);
  return {
    pid: child.pid ?? 0,
    address: `127.0.0.1:${port}`,
    output: () => output.join(''),
    stop,
    async [Symbol.asyncDispose]() {
      await stop('SIGKILL');
      await files[Symbol.asyncDispose]();
    },
  };
}

async function certificateFolder(authority: CertificateWithKey): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'bowline-tls-'));
  const { certificate, bundlePem } = await testIdentity(authority, SERVER_NAME, 'server');
  await writeFile(join(path, 'tls.crt'), certificate.certificatePem);
  await writeFile(join(path, 'tls.key'), certificate.keyPem);
  await writeFile(join(path, 'ca.crt'), bundlePem);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}
