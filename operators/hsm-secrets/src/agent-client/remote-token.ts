import type { AgentService } from '../agent-protocol/agent-service.ts';
import type { AgentMethod, AgentRequest, AgentResponse } from '../agent-protocol/contract.ts';
import {
  dataToMessage,
  metadataFromMessage,
  metadataInputToMessage,
  secretFromMessage,
  statusFromMessage,
  summaryFromMessage,
} from '../agent-protocol/convert-messages.ts';

/** AgentCall calls a method of an agent. It rejects with a TokenError. */
export type AgentCall = <M extends AgentMethod>(
  method: M,
  request: AgentRequest<M>,
  signal: AbortSignal | undefined,
) => Promise<AgentResponse<M>>;

/** remoteToken returns the token behind the calls of an agent. */
export function remoteToken(call: AgentCall): AgentService {
  return {
    status: async (signal) => statusFromMessage(await call('GetInfo', {}, signal)),
    read: async (path, signal) => secretFromMessage(await call('ReadSecret', { path }, signal)),
    write: async (path, data, metadata, options = {}, signal) =>
      summaryFromMessage(
        await call(
          'WriteSecret',
          { path, data: dataToMessage(data), metadata: metadataInputToMessage(metadata), ...options },
          signal,
        ),
      ),
    remove: async (path, key, options = {}, signal) =>
      summaryFromMessage(await call('DeleteSecret', { path, key, ...options }, signal)),
    purge: async (path, version, signal) => void (await call('PurgeSecret', { path, version }, signal)),
    metadata: async (path, signal) => metadataFromMessage(await call('ReadMetadata', { path }, signal)),
    list: async (prefix, signal) => (await call('ListSecrets', { prefix }, signal)).secrets.map(summaryFromMessage),
    checksums: async (paths, signal) => (await call('GetChecksums', { paths }, signal)).secrets.map(summaryFromMessage),
    changePin: async (newPin, signal) => void (await call('ChangePIN', { newPin }, signal)),
    retryPin: async (signal) => statusFromMessage(await call('RetryPIN', {}, signal)),
    provePin: async (nonce, signal) => (await call('ProvePIN', { nonce }, signal)).proof,
  };
}
