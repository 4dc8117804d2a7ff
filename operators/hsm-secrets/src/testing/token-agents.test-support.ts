import { keyString, type ObjectKey } from '@bowline/kubernetes';
import { type Clock, VirtualClock } from '@bowline/machinery';
import type { Agents, DeviceAgent } from '../agent-client/agent-directory.ts';
import { DeviceChanges } from '../agent-client/device-changes.ts';
import type { AgentService } from '../agent-protocol/agent-service.ts';
import { LocalTokenService } from '../token/local-token-service.ts';
import { PIN, softwareToken } from '../token/software-token.test-support.ts';
import type { SoftwareToken } from '../token/software-token.ts';
import type { TokenError } from '../token/token-error.ts';
import type { MetadataInput, TokenService } from '../token/token-service.ts';

/** TokenAgent is an agent with a software token, as a test controls it. */
export interface TokenAgent extends DeviceAgent {
  readonly token: SoftwareToken;
  /** The calls so far, as `checksums a,b` and `read a`. */
  readonly calls: string[];
  /** Every call fails with this error while it is set. */
  failure: TokenError | undefined;
  /** write stores a secret on the token, without counting as a call. */
  write(path: string, data: Readonly<Record<string, string | Buffer>>, metadata?: MetadataInput): Promise<void>;
  /** remove deletes a secret on the token. */
  remove(path: string): Promise<void>;
}

/** TokenAgents are agents with software tokens in the same process. */
export class TokenAgents implements Agents {
  readonly #clock: Clock;
  readonly #changes = new DeviceChanges();
  readonly #agents = new Map<string, TokenAgent[]>();
  #count = 0;

  constructor(clock: Clock = new VirtualClock()) {
    this.#clock = clock;
  }

  agentsOf(device: ObjectKey): readonly DeviceAgent[] {
    return this.#agents.get(keyString(device)) ?? [];
  }

  changes(signal: AbortSignal): AsyncIterable<string> {
    return this.#changes.follow(signal);
  }

  announce(device: string): void {
    this.#changes.announce(device);
  }

  /** add starts an agent for a physical device of an HSMDevice. */
  add(device: ObjectKey, serialNumber: string, token: SoftwareToken = softwareToken({ serialNumber })): TokenAgent {
    this.#count += 1;
    const agent = tokenAgent(serialNumber, `agent-${this.#count}`, token, this.#clock);
    const others = this.#agents.get(keyString(device)) ?? [];
    this.#agents.set(
      keyString(device),
      [...others, agent].sort((a, b) => (a.serialNumber < b.serialNumber ? -1 : 1)),
    );
    this.announce(keyString(device));
    return agent;
  }

  /** stop ends an agent. */
  stop(device: ObjectKey, { podUID }: TokenAgent): void {
    const agents = this.#agents.get(keyString(device)) ?? [];
    this.#agents.set(
      keyString(device),
      agents.filter((agent) => agent.podUID !== podUID),
    );
    this.announce(keyString(device));
  }
}

function tokenAgent(serialNumber: string, podUID: string, token: SoftwareToken, clock: Clock): TokenAgent {
  const local = new LocalTokenService({
    open: () => token.open(),
    pin: { current: () => Buffer.from(PIN), next: () => undefined },
    attempts: { read: () => undefined, write: () => {} },
    clock,
  });
  const calls: string[] = [];
  const agent: TokenAgent = {
    serialNumber,
    nodeName: 'node',
    podUID,
    token,
    calls,
    failure: undefined,
    service: serviceOf(local, (call) => {
      calls.push(call);
      if (agent.failure) throw agent.failure;
    }),
    async write(path, data, metadata = {}) {
      const entries = Object.entries(data).map(([key, value]) => [key, Buffer.from(value)] as const);
      await local.write(path, Object.fromEntries(entries), metadata);
    },
    async remove(path) {
      await local.remove(path, undefined);
    },
  };
  return agent;
}

/** serviceOf returns the service of an agent on a token. `called` is told about each call, and may throw. */
function serviceOf(local: TokenService, called: (call: string) => void): AgentService {
  return {
    status: async (signal) => ({ ...(await local.status(signal)), wasProvisioned: false }),
    retryPin: async (signal) => ({ ...(await local.retryPin(signal)), wasProvisioned: false }),
    async read(path, signal) {
      called(`read ${path}`);
      return local.read(path, signal);
    },
    async checksums(paths, signal) {
      called(`checksums ${[...paths].sort().join()}`);
      const wanted = new Set(paths);
      return (await local.list('', signal)).filter(({ path }) => wanted.has(path));
    },
    write: (path, data, metadata, options, signal) => local.write(path, data, metadata, options, signal),
    remove: (path, key, options, signal) => local.remove(path, key, options, signal),
    purge: (path, version, signal) => local.purge(path, version, signal),
    metadata: (path, signal) => local.metadata(path, signal),
    list: (prefix, signal) => local.list(prefix, signal),
    changePin: (newPin, signal) => local.changePin(newPin, signal),
    provePin: (nonce, signal) => local.provePin(nonce, signal),
  };
}
