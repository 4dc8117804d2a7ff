import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemRandom } from '@bowline/machinery';
import { freePorts } from '../../../packages/control-plane/src/ports.ts';
import { startProgram } from '../start-program.ts';

/** VaultResponse is a response of Vault to an administrator. */
export interface VaultResponse {
  readonly status: number;
  readonly body: unknown;
}

/** RunningVault is a Vault in development mode: unsealed, in memory, with KV version 2 at `secret`. */
export interface RunningVault extends AsyncDisposable {
  readonly url: string;
  /** The CA of its certificate. */
  readonly ca: string;
  readonly rootToken: string;
  /** administer sends a request as root; a string body is sent as is. */
  administer(method: string, path: string, body?: object | string): Promise<VaultResponse>;
}

/** startVault runs a Vault on loopback with TLS and resolves when it responds. */
export async function startVault(program: string): Promise<RunningVault> {
  const folder = await mkdtemp(join(tmpdir(), 'vault-'));
  // It also listens on the next port, for a cluster that it never has.
  const [port = 0] = await freePorts(1, systemRandom);
  const rootToken = 'root-of-this-test';
  const args = [
    'server',
    '-dev-tls',
    `-dev-tls-cert-dir=${folder}`,
    `-dev-root-token-id=${rootToken}`,
    `-dev-listen-address=127.0.0.1:${port}`,
    '-dev-no-store-token',
  ];
  const clean = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const running = await startProgram({
      name: 'Vault',
      program,
      args,
      // The Vault and proxy configuration of the user must not be used.
      env: { PATH: process.env.PATH, HOME: folder },
      readyLine: 'Vault server started',
    });
    const stop = async (): Promise<void> => {
      await running[Symbol.asyncDispose]();
      await clean();
    };
    const ca = await readFile(join(folder, 'vault-ca.pem'), 'utf8');
    const url = `https://127.0.0.1:${port}`;
    const administer: RunningVault['administer'] = (method, path, body) =>
      ask({ url, ca, rootToken }, method, path, body);
    return { url, ca, rootToken, administer, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await clean();
    throw error;
  }
}

async function ask(
  { url, ca, rootToken }: Pick<RunningVault, 'url' | 'ca' | 'rootToken'>,
  method: string,
  path: string,
  body?: object | string,
): Promise<VaultResponse> {
  const sent = request(`${url}/v1/${path}`, { method, ca, agent: false, headers: { 'x-vault-token': rootToken } });
  sent.end(typeof body === 'string' || body === undefined ? body : JSON.stringify(body));
  const [response] = (await once(sent, 'response')) as [AsyncIterable<Buffer> & { readonly statusCode?: number }];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const status = response.statusCode ?? 0;
  if (status >= 400) throw new Error(`Vault returned ${status} to ${method} ${path}: ${text}`);
  return { status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
}
