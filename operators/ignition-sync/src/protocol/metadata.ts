import { canonicalJson } from '@bowline/machinery';
import { type Read, s } from '@bowline/runtime/resource';
import { rollbackSpec } from '../api/experimental-spec.ts';
import { type AgentProfile, agentProfile } from './agent-profile.ts';
import { type AgentSettings, agentSettings } from './agent-settings.ts';
import { decodeJson, ProtocolError } from './decode-json.ts';
import { type RolloutPlan, rolloutPlan } from './rollout-plan.ts';

/** SCHEMA is the version of the ConfigMaps that controller and agents exchange. */
export const SCHEMA = '1';

/** MAX_METADATA_BYTES is the maximum size of the metadata ConfigMap. */
export const MAX_METADATA_BYTES = 512 * 1024;

/** AUTH_TYPES are the ways in which agents authenticate to the Git server. */
export const AUTH_TYPES = ['none', 'ssh', 'token', 'githubApp'] as const;

/** Rollback names the snapshot that gateways return to. */
export type Rollback = Read<typeof rollbackSpec>;

/** SyncMetadata is what the controller tells all agents of an IgnitionSync. */
export interface SyncMetadata {
  /** The commit that the ref was resolved to. Agents follow the plan, which may hold them at another one. */
  readonly commit: string;
  readonly ref: string;
  /** Changes with each request to sync again: the latest of requested-at, retry and approval. */
  readonly trigger: string;
  readonly gitURL: string;
  readonly authType: (typeof AUTH_TYPES)[number];
  /** Host keys that were pinned on first use, as lines of a known_hosts file. Empty if a Secret has them. */
  readonly knownHosts: string;
  readonly paused: boolean;
  readonly gatewayPort: number;
  readonly gatewayTLS: boolean;
  readonly excludePatterns: readonly string[];
  readonly settings: AgentSettings;
  /** The profiles that pods name, by name. */
  readonly profiles: Readonly<Record<string, AgentProfile>>;
  readonly plan: RolloutPlan;
  readonly rollback: Rollback | undefined;
  /** The uid of the IgnitionSync, for events about it. */
  readonly crUID: string;
  /** The uid of the status ConfigMap: agents report again to one that replaced it. Undefined if it is not known. */
  readonly statusUID?: string | undefined;
}

const patterns = s.array(s.string().maxLength(512)).maxItems(256);
const profiles = s.map(agentProfile).maxProperties(64);

/** encodeMetadata returns the data of the metadata ConfigMap. Equal metadata has equal data. */
export function encodeMetadata(metadata: SyncMetadata): Record<string, string> {
  const { settings, profiles, plan, rollback, excludePatterns } = metadata;
  return {
    schema: SCHEMA,
    commit: metadata.commit,
    ref: metadata.ref,
    trigger: metadata.trigger,
    gitURL: metadata.gitURL,
    authType: metadata.authType,
    knownHosts: metadata.knownHosts,
    paused: String(metadata.paused),
    gatewayPort: String(metadata.gatewayPort),
    gatewayTLS: String(metadata.gatewayTLS),
    excludePatterns: canonicalJson(excludePatterns),
    settings: canonicalJson(settings),
    profiles: canonicalJson(profiles),
    plan: canonicalJson(plan),
    rollback: rollback === undefined ? '' : canonicalJson(rollback),
    crUID: metadata.crUID,
    statusUID: metadata.statusUID ?? '',
  };
}

/**
 * decodeMetadata reads the data of the metadata ConfigMap. It throws ProtocolError if the data is not valid, or was
 * written by a controller with another protocol.
 */
export function decodeMetadata(data: Readonly<Record<string, string>> | undefined): SyncMetadata {
  const field = (name: string): string => {
    const value = data?.[name];
    if (value === undefined) throw new ProtocolError(name, 'the key is missing');
    return value;
  };
  const schema = field('schema');
  if (schema !== SCHEMA) throw new ProtocolMismatch(schema.slice(0, 20));
  const rollback = field('rollback');
  return {
    commit: field('commit'),
    ref: field('ref'),
    trigger: field('trigger'),
    gitURL: field('gitURL'),
    authType: oneOf('authType', field('authType'), AUTH_TYPES),
    knownHosts: field('knownHosts'),
    paused: oneOf('paused', field('paused'), BOOLEANS) === 'true',
    gatewayPort: port(field('gatewayPort')),
    gatewayTLS: oneOf('gatewayTLS', field('gatewayTLS'), BOOLEANS) === 'true',
    excludePatterns: decodeJson('excludePatterns', field('excludePatterns'), patterns),
    settings: decodeJson('settings', field('settings'), agentSettings),
    profiles: decodeJson('profiles', field('profiles'), profiles),
    plan: decodeJson('plan', field('plan'), rolloutPlan),
    rollback: rollback === '' ? undefined : decodeJson('rollback', rollback, rollbackSpec),
    crUID: field('crUID'),
    statusUID: data?.statusUID || undefined,
  };
}

/** ProtocolMismatch reports that controller and agent have different versions of the protocol. */
export class ProtocolMismatch extends ProtocolError {
  constructor(found: string) {
    super(
      'schema',
      `it is ${JSON.stringify(found)}, and this agent reads "${SCHEMA}"; recreate the pod to get an agent of the same version as the operator`,
    );
  }
}

const BOOLEANS = ['true', 'false'] as const;

function oneOf<T extends string>(field: string, value: string, values: readonly T[]): T {
  const found = values.find((each) => each === value);
  if (found === undefined) throw new ProtocolError(field, `it must be one of ${values.join(', ')}`);
  return found;
}

function port(text: string): number {
  const value = Number(text);
  if (!/^[0-9]{1,5}$/.test(text) || value < 1 || value > 65_535)
    throw new ProtocolError('gatewayPort', 'it must be a port from 1 to 65535');
  return value;
}
