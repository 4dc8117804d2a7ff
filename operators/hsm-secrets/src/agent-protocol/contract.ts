import type { MethodDefinition } from '@grpc/grpc-js';
import type * as libraries from './libraries.ts';
import type * as messages from './messages.ts';

/** AgentMethods holds the request and the response of every method. */
export interface AgentMethods {
  readonly GetInfo: readonly [messages.EmptyMessage, messages.InfoMessage];
  readonly ReadSecret: readonly [messages.PathMessage, messages.SecretMessage];
  readonly WriteSecret: readonly [messages.WriteMessage, messages.SummaryMessage];
  readonly ReadMetadata: readonly [messages.PathMessage, messages.MetadataMessage];
  readonly DeleteSecret: readonly [messages.DeleteMessage, messages.SummaryMessage];
  readonly PurgeSecret: readonly [messages.PurgeMessage, messages.EmptyMessage];
  readonly ListSecrets: readonly [messages.PrefixMessage, messages.SummariesMessage];
  readonly GetChecksum: readonly [messages.PathMessage, messages.SummaryMessage];
  readonly GetChecksums: readonly [messages.PathsMessage, messages.SummariesMessage];
  readonly IsConnected: readonly [messages.EmptyMessage, messages.ConnectedMessage];
  readonly Health: readonly [messages.EmptyMessage, messages.HealthMessage];
  readonly ChangePIN: readonly [messages.PinMessage, messages.EmptyMessage];
  readonly RetryPIN: readonly [messages.EmptyMessage, messages.InfoMessage];
  readonly ProvePIN: readonly [messages.NonceMessage, messages.ProofMessage];
}

/** AgentMethod is the name of a method. */
export type AgentMethod = keyof AgentMethods;

/** AgentRequest is the request of a method. */
export type AgentRequest<M extends AgentMethod> = AgentMethods[M][0];
/** AgentResponse is the response of a method. */
export type AgentResponse<M extends AgentMethod> = AgentMethods[M][1];

/** AgentContract holds the methods with their encodings. */
export type AgentContract = {
  readonly [M in AgentMethod]: MethodDefinition<AgentRequest<M>, AgentResponse<M>>;
};

/** MAX_MESSAGE_BYTES limits a request and a response: four times the values of the largest secret. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/** A field is its type; `?` marks an optional one and `[]` a list. The order gives the numbers: only append. */
const MESSAGES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Empty: {},
  Path: { path: 'string' },
  Paths: { paths: 'string[]' },
  Prefix: { prefix: 'string' },
  // On the wire these are the entries of a map. Read as a list, a key such as `__proto__` is like any other.
  TextEntry: { key: 'string', value: 'string' },
  DataEntry: { key: 'string', value: 'bytes' },
  Metadata: {
    version: 'int64?',
    timestamp: 'string?',
    isDeleted: 'bool?',
    createdAt: 'string?',
    description: 'string?',
    labels: 'TextEntry[]',
    format: 'string?',
    dataType: 'string?',
    source: 'string?',
  },
  Secret: { data: 'DataEntry[]', metadata: 'Metadata?', checksum: 'string' },
  Write: {
    path: 'string',
    data: 'DataEntry[]',
    metadata: 'Metadata?',
    replaces: 'int64?',
    version: 'int64?',
    timestamp: 'string?',
  },
  Delete: { path: 'string', key: 'string?', replaces: 'int64?', version: 'int64?', timestamp: 'string?' },
  Purge: { path: 'string', version: 'int64' },
  Summary: {
    path: 'string',
    version: 'int64',
    timestamp: 'string?',
    isDeleted: 'bool',
    checksum: 'string?',
    keys: 'string[]',
  },
  Summaries: { secrets: 'Summary[]' },
  Token: {
    label: 'string',
    serialNumber: 'string',
    manufacturer: 'string',
    model: 'string',
    isUserPinInitialized: 'bool',
    isPinCountLow: 'bool',
    isPinFinalTry: 'bool',
    isPinLocked: 'bool',
  },
  Problem: { reason: 'string', message: 'string' },
  Info: { token: 'Token?', isLoggedIn: 'bool', problem: 'Problem?', isSimulated: 'bool', wasProvisioned: 'bool' },
  Connected: { isConnected: 'bool' },
  Health: { isHealthy: 'bool', problem: 'Problem?' },
  Pin: { newPin: 'bytes' },
  Nonce: { nonce: 'bytes' },
  Proof: { proof: 'bytes' },
};

const METHODS: Readonly<Record<AgentMethod, readonly [request: string, response: string]>> = {
  GetInfo: ['Empty', 'Info'],
  ReadSecret: ['Path', 'Secret'],
  WriteSecret: ['Write', 'Summary'],
  ReadMetadata: ['Path', 'Metadata'],
  DeleteSecret: ['Delete', 'Summary'],
  PurgeSecret: ['Purge', 'Empty'],
  ListSecrets: ['Prefix', 'Summaries'],
  GetChecksum: ['Path', 'Summary'],
  GetChecksums: ['Paths', 'Summaries'],
  IsConnected: ['Empty', 'Connected'],
  Health: ['Empty', 'Health'],
  ChangePIN: ['Pin', 'Empty'],
  RetryPIN: ['Empty', 'Info'],
  ProvePIN: ['Nonce', 'Proof'],
};

/** AGENT_METHODS holds the names of the methods. */
export const AGENT_METHODS = Object.keys(METHODS) as readonly AgentMethod[];

/** The contract as protobufjs describes it: a `.proto` file would have to be shipped beside the bundled program. */
function descriptor() {
  const types = Object.entries(MESSAGES).map(([name, fields]) => [name, messageType(fields)]);
  const methods = Object.entries(METHODS).map(([name, [requestType, responseType]]) => [
    name,
    { requestType, responseType },
  ]);
  const nested = { ...Object.fromEntries(types), HSMAgent: { methods: Object.fromEntries(methods) } };
  return { nested: { hsm: { nested: { v1: { nested } } } } };
}

function messageType(declared: Readonly<Record<string, string>>) {
  const fields = Object.entries(declared).map(([field, text], at) => {
    const type = text.replace(/\W+$/, '');
    const isOptional = text.endsWith('?');
    const rule = text.endsWith('[]') ? { rule: 'repeated' } : {};
    return { field, isOptional, as: { id: at + 1, type, ...rule, options: { proto3_optional: isOptional } } };
  });
  // How protobuf tells a missing field from one with the zero value: each is the only member of a oneof.
  const optional = fields.filter(({ isOptional }) => isOptional);
  return {
    fields: Object.fromEntries(fields.map(({ field, as }) => [field, as])),
    oneofs: Object.fromEntries(optional.map(({ field }) => [`_${field}`, { oneof: [field] }])),
  };
}

/** Grpc is the gRPC library. */
export type Grpc = typeof libraries.grpc;

/** loadGrpc loads the gRPC library. */
export async function loadGrpc(): Promise<Grpc> {
  return (await import('./libraries.ts')).grpc;
}

let loaded: Promise<AgentContract> | undefined;

/**
 * loadContract returns the service `hsm.v1.HSMAgent`. The encoder is loaded here and not before: importing the operator
 * must not cost every process what only those need that call or serve an agent.
 */
export function loadContract(): Promise<AgentContract> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<AgentContract> {
  const { fromJSON } = await import('./libraries.ts');
  const types = fromJSON(descriptor(), { keepCase: true, longs: Number, defaults: true, arrays: true });
  // The types of the messages are those of `messages.ts`; the tests of the conversions check every field.
  return types['hsm.v1.HSMAgent'] as unknown as AgentContract;
}
