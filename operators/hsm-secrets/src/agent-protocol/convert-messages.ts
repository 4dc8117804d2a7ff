import type {
  MetadataInput,
  SecretData,
  SecretMetadata,
  SecretSummary,
  StoredSecret,
  TokenStatus,
  WriteOptions,
} from '../token/token-service.ts';
import type { AgentStatus } from './agent-service.ts';
import type {
  DataEntryMessage,
  GuardMessage,
  InfoMessage,
  MetadataMessage,
  SecretMessage,
  SummaryMessage,
  TextEntryMessage,
} from './messages.ts';

/** dataToMessage lists the values of a secret. */
export function dataToMessage(data: SecretData): DataEntryMessage[] {
  return Object.entries(data).map(([key, value]) => ({ key, value }));
}

/** dataFromMessage is the inverse of `dataToMessage`. */
export function dataFromMessage(entries: readonly DataEntryMessage[]): SecretData {
  return fromEntries(entries);
}

/** metadataToMessage encodes what a reader returns. */
export function metadataToMessage({ labels, ...rest }: SecretMetadata): MetadataMessage {
  return { ...rest, labels: labelsToMessage(labels) };
}

/** metadataFromMessage is the inverse of `metadataToMessage`. */
export function metadataFromMessage(message: MetadataMessage): SecretMetadata {
  const { version = 0, timestamp, isDeleted = false, createdAt, labels = [], ...rest } = message;
  const { description, format, dataType, source } = rest;
  return {
    version,
    timestamp,
    isDeleted,
    description,
    labels: fromEntries(labels),
    format,
    dataType,
    createdAt,
    source,
  };
}

/** metadataInputToMessage encodes what a writer chooses. */
export function metadataInputToMessage({ labels = {}, ...rest }: MetadataInput): MetadataMessage {
  return { ...rest, labels: labelsToMessage(labels) };
}

/** metadataInputFromMessage is the inverse of `metadataInputToMessage`. It drops fields that writers may not choose. */
export function metadataInputFromMessage(message: MetadataMessage): MetadataInput {
  const { description, labels = [], format, dataType, source } = message;
  return { description, labels: fromEntries(labels), format, dataType, source };
}

/** guardFromMessage returns the versions of a write. */
export function guardFromMessage({ replaces, version, timestamp }: GuardMessage): WriteOptions {
  return { replaces, version, timestamp };
}

/** secretToMessage encodes a secret. */
export function secretToMessage({ data, metadata, checksum }: StoredSecret): SecretMessage {
  return { data: dataToMessage(data), metadata: metadataToMessage(metadata), checksum };
}

/** secretFromMessage is the inverse of `secretToMessage`. */
export function secretFromMessage({ data, metadata = {}, checksum }: SecretMessage): StoredSecret {
  return { data: dataFromMessage(data), metadata: metadataFromMessage(metadata), checksum };
}

/** summaryFromMessage decodes a summary, which is encoded as it is. */
export function summaryFromMessage(message: SummaryMessage): SecretSummary {
  const { path, version, timestamp, isDeleted, checksum, keys } = message;
  return { path, version, timestamp, isDeleted, checksum, keys };
}

/** statusToMessage encodes the state of an agent. */
export function statusToMessage(status: TokenStatus & Partial<AgentStatus>): InfoMessage {
  const { token, isLoggedIn, problem, isSimulated, wasProvisioned = false } = status;
  return { token, isLoggedIn, problem, isSimulated, wasProvisioned };
}

/** statusFromMessage is the inverse of `statusToMessage`. */
export function statusFromMessage(message: InfoMessage): AgentStatus {
  const { token, isLoggedIn, problem, isSimulated, wasProvisioned } = message;
  return { token, isLoggedIn, problem, isSimulated, wasProvisioned };
}

function labelsToMessage(labels: Readonly<Record<string, string>>): TextEntryMessage[] {
  return Object.entries(labels).map(([key, value]) => ({ key, value }));
}

function fromEntries<T>(entries: readonly { readonly key: string; readonly value: T }[]): Readonly<Record<string, T>> {
  // Object.fromEntries defines properties: a key such as `__proto__` is one too.
  return Object.fromEntries(entries.map(({ key, value }) => [key, value]));
}
