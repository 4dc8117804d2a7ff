import { createHmac } from 'node:crypto';
import { keyString, type ObjectKey } from '@bowline/kubernetes';
import type { Agents, DeviceAgent } from '../agent-client/agent-directory.ts';
import { DeviceChanges } from '../agent-client/device-changes.ts';
import type { AgentService, AgentStatus } from '../agent-protocol/agent-service.ts';
import { TokenError } from '../token/token-error.ts';

/** ScriptedAgent is the state of an agent that a test decides about. */
export interface ScriptedAgent {
  readonly serialNumber: string;
  readonly nodeName: string;
  readonly podUID: string;
  /** Why its token cannot be used. */
  problem?: { readonly reason: string; readonly message: string } | undefined;
  /** The PIN that its pod has mounted. */
  pin?: string;
  /** What happens when the PIN is tried again: the problem that it then has. */
  afterRetry?: ScriptedAgent['problem'];
}

/** ScriptedAgents are agents whose tokens report what a test sets, and count how often a PIN was tried again. */
export class ScriptedAgents implements Agents {
  readonly #changes = new DeviceChanges();
  readonly #byDevice = new Map<string, ScriptedAgent[]>();
  /** The serial numbers of the tokens whose PIN was tried again. */
  readonly retries: string[] = [];

  /** set replaces the agents of a device. */
  set(device: ObjectKey, agents: readonly ScriptedAgent[]): void {
    this.#byDevice.set(keyString(device), [...agents]);
    this.announce(keyString(device));
  }

  agentsOf(device: ObjectKey): readonly DeviceAgent[] {
    return (this.#byDevice.get(keyString(device)) ?? []).map((agent) => ({
      ...agent,
      service: this.#serviceOf(agent),
    }));
  }

  changes(signal: AbortSignal): AsyncIterable<string> {
    return this.#changes.follow(signal);
  }

  announce(device: string): void {
    this.#changes.announce(device);
  }

  #serviceOf(agent: ScriptedAgent): AgentService {
    const status = async (): Promise<AgentStatus> => ({
      token: {
        label: 'scripted',
        serialNumber: agent.serialNumber,
        manufacturer: 'test',
        model: 'test',
        isUserPinInitialized: true,
        isPinCountLow: agent.problem?.reason === 'PINUncertain',
        isPinFinalTry: false,
        isPinLocked: false,
      },
      isLoggedIn: agent.problem === undefined,
      problem: agent.problem,
      isSimulated: false,
      wasProvisioned: false,
    });
    const refuse = (): Promise<never> => Promise.reject(new TokenError('Unavailable', 'the test does not need this'));
    return {
      status,
      retryPin: async () => {
        this.retries.push(agent.serialNumber);
        agent.problem = agent.afterRetry;
        return await status();
      },
      provePin: async (nonce) =>
        createHmac('sha256', agent.pin ?? '')
          .update(nonce)
          .digest(),
      read: refuse,
      write: refuse,
      remove: refuse,
      purge: refuse,
      metadata: refuse,
      list: refuse,
      checksums: refuse,
      changePin: refuse,
    };
  }
}
