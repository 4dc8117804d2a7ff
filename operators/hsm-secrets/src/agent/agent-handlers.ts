import type { AgentMethod, AgentRequest, AgentResponse } from '../agent-protocol/contract.ts';
import {
  dataFromMessage,
  guardFromMessage,
  metadataInputFromMessage,
  metadataToMessage,
  secretToMessage,
  statusToMessage,
} from '../agent-protocol/convert-messages.ts';
import { TokenError } from '../token/token-error.ts';
import type { TokenService } from '../token/token-service.ts';

/** AgentHandlers holds a function for each method. They reject with a TokenError. */
export type AgentHandlers = {
  readonly [M in AgentMethod]: (request: AgentRequest<M>, signal: AbortSignal) => Promise<AgentResponse<M>>;
};

/** agentHandlers implements the contract with a token. */
export function agentHandlers(service: TokenService): AgentHandlers {
  return {
    GetInfo: async (_, signal) => statusToMessage(await service.status(signal)),
    ReadSecret: async ({ path }, signal) => secretToMessage(await service.read(path, signal)),
    WriteSecret: ({ path, data, metadata = {}, ...guard }, signal) =>
      service.write(path, dataFromMessage(data), metadataInputFromMessage(metadata), guardFromMessage(guard), signal),
    ReadMetadata: async ({ path }, signal) => metadataToMessage(await service.metadata(path, signal)),
    DeleteSecret: ({ path, key, ...guard }, signal) => service.remove(path, key, guardFromMessage(guard), signal),
    PurgeSecret: async ({ path, version }, signal) => {
      await service.purge(path, version, signal);
      return {};
    },
    ListSecrets: async ({ prefix }, signal) => ({ secrets: await service.list(prefix, signal) }),
    GetChecksum: async ({ path }, signal) => {
      const found = (await service.list(path, signal)).find((secret) => secret.path === path && !secret.isDeleted);
      if (found) return found;
      throw new TokenError('NotFound', `there is no secret at ${path}`);
    },
    GetChecksums: async ({ paths }, signal) => {
      const wanted = new Set(paths);
      return { secrets: (await service.list('', signal)).filter(({ path }) => wanted.has(path)) };
    },
    IsConnected: async (_, signal) => ({ isConnected: (await service.status(signal)).isLoggedIn }),
    Health: async (_, signal) => {
      const { isLoggedIn, problem } = await service.status(signal);
      return { isHealthy: isLoggedIn && problem === undefined, problem };
    },
    ChangePIN: async ({ newPin }, signal) => {
      try {
        await service.changePin(newPin, signal);
        return {};
      } finally {
        newPin.fill(0);
      }
    },
    RetryPIN: async (_, signal) => statusToMessage(await service.retryPin(signal)),
    ProvePIN: async ({ nonce }, signal) => ({ proof: await service.provePin(nonce, signal) }),
  };
}
