import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { systemRandom } from '@bowline/machinery';
import { testAuthority, testIdentity } from '../../../operators/hsm-secrets/src/agent/agent-identities.test-support.ts';
import { agentServerName, MANAGER_NAME } from '../../../operators/hsm-secrets/src/api/names.ts';
import { freePorts } from '../../../packages/control-plane/src/ports.ts';
import { ensurePkcs11js } from '../../../test/support/pkcs11js/ensure-pkcs11js.ts';
import { ensureSoftHsm, type InstalledSoftHsm } from '../../../test/support/softhsm/ensure-softhsm.ts';
import { softHsmFolder } from '../../../test/support/softhsm/soft-hsm-folder.ts';
import { SubjectProcess } from '../../support/subject-process.ts';
import type { HsmScene } from './scene.ts';

/** Pkcs11Tools holds SoftHSM2 and pkcs11js, or why they are missing. */
export type Pkcs11Tools =
  | { readonly softHsm: InstalledSoftHsm; readonly pkcs11js: string }
  | { readonly skippedBecause: string };

/** pkcs11Tools installs SoftHSM2 and pkcs11js, if they are missing. */
export async function pkcs11Tools(log: (line: string) => void): Promise<Pkcs11Tools> {
  const softHsm = await ensureSoftHsm(log);
  if ('skippedBecause' in softHsm) return softHsm;
  const pkcs11js = await ensurePkcs11js(log);
  return 'skippedBecause' in pkcs11js ? pkcs11js : { softHsm, pkcs11js: pkcs11js.folder };
}

/** TOKEN is the label of the token and its PIN. */
export const TOKEN = { label: 'bench', pin: '4711-user', soPin: '0815-officer' } as const;

/** SoftHsmAgent is the command `bowline hsm-secrets agent` with a token of SoftHSM2, and its worker. */
export interface SoftHsmAgent extends AsyncDisposable {
  readonly process: SubjectProcess;
  readonly address: string;
  readonly serverName: string;
  /** A file with the TlsIdentity of the manager. */
  readonly identityFile: string;
  /** The environment of programs that use the token. */
  readonly env: Readonly<Record<string, string>>;
}

const startTimeoutMs = 60_000;

/** startSoftHsmAgent creates a token, starts the agent, and waits until the token is ready. `program` is the command line. */
export async function startSoftHsmAgent(
  scene: HsmScene,
  { softHsm, pkcs11js }: Exclude<Pkcs11Tools, { skippedBecause: string }>,
  program: string,
): Promise<SoftHsmAgent> {
  const tokens = await softHsmFolder(softHsm);
  await tokens.initToken(TOKEN.label, TOKEN);
  const folder = join(scene.folder, 'softhsm-agent');
  const serverName = agentServerName({ namespace: 'bench', name: 'softhsm' });
  const identityFile = await writeFiles(folder, serverName);
  const [port = 0, health = 0] = await freePorts(2, systemRandom);
  const flags = {
    ...{ library: softHsm.library, pkcs11js, 'token-label': TOKEN.label },
    ...{ 'pin-file': join(folder, 'pin'), 'state-folder': join(folder, 'state'), 'tls-folder': folder },
    ...{ listen: `127.0.0.1:${port}`, 'health-listen': `127.0.0.1:${health}` },
  };
  const args = Object.entries(flags).flatMap(([name, text]) => [`--${name}`, text]);
  const running = new SubjectProcess(
    {
      file: process.execPath,
      args: [program, 'hsm-secrets', 'agent', ...args],
      env: tokens.env,
      endSignal: 'SIGTERM',
    },
    [],
  );
  const end = async (): Promise<void> => {
    await running.release();
    await tokens[Symbol.asyncDispose]();
  };
  try {
    await untilReady(running, health);
  } catch (error) {
    await end();
    throw error;
  }
  return {
    process: running,
    address: `127.0.0.1:${port}`,
    serverName,
    identityFile,
    env: tokens.env,
    [Symbol.asyncDispose]: end,
  };
}

/** writeFiles writes the PIN, the certificate of the agent and that of the manager. */
async function writeFiles(folder: string, serverName: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const authority = await testAuthority();
  const { certificate, bundlePem } = await testIdentity(authority, serverName, 'server');
  const identityFile = join(folder, 'manager.json');
  const files = {
    pin: TOKEN.pin,
    'tls.crt': certificate.certificatePem,
    'tls.key': certificate.keyPem,
    'ca.crt': bundlePem,
    'manager.json': JSON.stringify(await testIdentity(authority, MANAGER_NAME, 'client')),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o600 });
  return identityFile;
}

async function untilReady(agent: SubjectProcess, port: number): Promise<void> {
  const deadline = performance.now() + startTimeoutMs;
  for (;;) {
    const text = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      (response) => response.text(),
      () => 'not listening',
    );
    if (text === 'ok') return;
    if (performance.now() > deadline) throw new Error(`the agent is not ready: ${text}\n${agent.output()}`);
    await pause(50);
  }
}
