import { type CertificateWithKey, type Clock, VirtualClock } from '@bowline/machinery';
import { type Fields, silentLog } from '@bowline/runtime/manager';
import { agentServerName, MANAGER_NAME } from '../api/names.ts';
import { LocalTokenService } from '../token/local-token-service.ts';
import { SoftwareToken } from '../token/software-token.ts';
import type { TokenService } from '../token/token-service.ts';
import { TestIdentitySource, testAuthority, testIdentity } from './agent-identities.test-support.ts';
import { type AgentServerOptions, serveAgent } from './serve-agent.ts';

/** SERVER_NAME is the name of the agents of the tests. */
export const SERVER_NAME: string = agentServerName({ namespace: 'vault', name: 'pico' });

/** RunningAgent is the server of an agent on loopback. */
export interface RunningAgent extends AsyncDisposable {
  readonly address: string;
  readonly authority: CertificateWithKey;
  /** The certificate of the server. */
  readonly identity: TestIdentitySource;
  /** A certificate for the manager. */
  readonly manager: TestIdentitySource;
  /** Messages of the log with their fields. */
  readonly lines: readonly (Fields & { readonly message: string })[];
}

/** softwareService returns a token in memory. */
export function softwareService(clock: Clock = new VirtualClock()): TokenService {
  const token = new SoftwareToken({ serialNumber: 'A1', label: 'pico', pin: Buffer.from('1234') });
  return new LocalTokenService({
    open: () => token.open(),
    pin: { current: () => Buffer.from('1234'), next: () => undefined },
    attempts: { read: () => undefined, write() {} },
    clock,
    isSimulated: true,
  });
}

/** runningAgent serves a token with certificates of a new CA. */
export async function runningAgent(options: Partial<AgentServerOptions> = {}): Promise<RunningAgent> {
  const authority = await testAuthority();
  const identity = new TestIdentitySource(await testIdentity(authority, SERVER_NAME, 'server'));
  const manager = new TestIdentitySource(await testIdentity(authority, MANAGER_NAME, 'client'));
  const lines: (Fields & { message: string })[] = [];
  const record = (message: string, fields?: Fields): void => void lines.push({ message, ...fields });
  const stop = new AbortController();
  const server = await serveAgent({
    service: softwareService(),
    identity,
    address: '127.0.0.1:0',
    log: { ...silentLog, warn: record, error: record },
    signal: stop.signal,
    ...options,
  });
  return {
    address: `127.0.0.1:${server.port}`,
    authority,
    identity,
    manager,
    lines,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await server.stopped;
    },
  };
}
