import { isDeepStrictEqual } from 'node:util';
import type { IgnitionSync } from '@bowline/ignition-sync';
import type { ConfigMap, KubernetesObject, Role, RoleBinding } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { agentRules } from '../../../../../operators/ignition-sync/src/agent-access/agent-role.ts';
import { CR_ANNOTATIONS, FINALIZER, objectNames } from '../../../../../operators/ignition-sync/src/api/names.ts';
import { desiredHash } from '../../../../../operators/ignition-sync/src/protocol/desired-hash.ts';
import { decodeMetadata } from '../../../../../operators/ignition-sync/src/protocol/metadata.ts';

/** NOTE is what another client adds to objects of the operator: an annotation, and a key of the metadata ConfigMap. */
export const NOTE = 'example.com/note';
export const NOTE_KEY = 'note';

/** ExpectedSync is the expected state of an IgnitionSync and its objects. */
export interface ExpectedSync {
  readonly name: string;
  readonly state: 'synced' | 'gone';
  readonly ref: string;
  readonly commit: string;
  /** The annotation requested-ref; undefined if it has ended or there was none. */
  readonly requestedRef: string | undefined;
  readonly rollback: IgnitionSync['spec']['rollback'];
  /** The commit that each gateway has, by the name of its pod. */
  readonly gateways: Readonly<Record<string, string>>;
  /** The ServiceAccounts of the pods, sorted. */
  readonly accounts: readonly string[];
  readonly hasClaim: boolean;
  /** What agents reported last, by key. */
  readonly reports: Readonly<Record<string, string>>;
  /** The objects to which another client added something, as `kind name`. */
  readonly noted: ReadonlySet<string>;
}

/** Found is what exists of a case. */
export interface Found {
  readonly syncs: ReadonlyMap<string, IgnitionSync>;
  /** The objects of IgnitionSyncs, as `kind name`. */
  readonly objects: ReadonlyMap<string, KubernetesObject>;
}

/** judge returns what is missing, left over or wrong. Each problem begins with the name of an IgnitionSync, or of an object. */
export function judge({ syncs, objects }: Found, expected: readonly ExpectedSync[]): readonly string[] {
  const wanted = new Set(expected.flatMap(objectsOf));
  const known = new Map(expected.map((each) => [each.name, each]));
  return [
    ...[...objects.keys()].filter((id) => !wanted.has(id)).map((id) => `${id}: it is left over`),
    ...[...syncs.keys()].filter((name) => !known.has(name)).map((name) => `${name}: it is unexpected`),
    ...expected.flatMap((each) =>
      judgeOne(syncs.get(each.name), objects, each).map((problem) => `${each.name}: ${problem}`),
    ),
  ];
}

/** objectsOf returns the objects that an IgnitionSync must have. */
export function objectsOf({
  name,
  state,
  hasClaim,
}: Pick<ExpectedSync, 'name' | 'state' | 'hasClaim'>): readonly string[] {
  if (state === 'gone') return [];
  const { metadata, status, changes, agent, claim } = objectNames(name);
  return [
    ...[metadata, status, changes].map((each) => `ConfigMap ${each}`),
    `Role ${agent}`,
    `RoleBinding ${agent}`,
    ...(hasClaim ? [`PersistentVolumeClaim ${claim}`] : []),
  ];
}

function judgeOne(
  sync: IgnitionSync | undefined,
  objects: Found['objects'],
  expected: ExpectedSync,
): readonly string[] {
  if (expected.state === 'gone') return sync ? ['it still exists'] : [];
  if (!sync) return ['it is missing'];
  const missing = objectsOf(expected).filter((id) => !objects.has(id));
  if (missing.length > 0) return missing.map((id) => `${id} is missing`);
  return [
    ...judgeSync(sync, expected),
    ...judgeStatus(sync, expected),
    ...judgeMetadata(objects, sync, expected),
    ...judgeAccess(objects, expected),
    ...judgeExchange(objects, expected),
    ...judgeOwners(objects, sync, expected),
    ...[...expected.noted]
      .filter((id) => !hasNote(objects.get(id)))
      .map((id) => `${id} lost what another client added`),
  ];
}

function judgeSync({ metadata, spec }: IgnitionSync, { requestedRef, rollback }: ExpectedSync): readonly string[] {
  const found = metadata?.annotations?.[CR_ANNOTATIONS.requestedRef];
  return [
    ...(metadata?.finalizers?.includes(FINALIZER) ? [] : ['it has no finalizer']),
    ...(found === requestedRef ? [] : [`its requested-ref is ${found}, not ${requestedRef}`]),
    ...(isDeepStrictEqual(spec.rollback, rollback) ? [] : ['its spec.rollback was changed']),
  ];
}

function judgeStatus(sync: IgnitionSync, { ref, commit, gateways }: ExpectedSync): readonly string[] {
  const { lastSyncRef, lastSyncCommit, discoveredGateways = [] } = sync.status ?? {};
  const isTrue = (type: string): boolean => {
    const condition = findCondition(sync, type);
    return condition?.status === 'True' && condition.observedGeneration === sync.metadata?.generation;
  };
  const reported = Object.fromEntries(
    discoveredGateways.map(({ podName, syncStatus, syncedCommit }) => [podName, `${syncStatus} ${syncedCommit}`]),
  );
  const wanted = Object.fromEntries(Object.entries(gateways).map(([pod, at]) => [pod, `Synced ${at}`]));
  return [
    ...(lastSyncRef === ref && lastSyncCommit === commit ? [] : [`its status has ${lastSyncRef} at ${lastSyncCommit}`]),
    ...(isDeepStrictEqual(reported, wanted) ? [] : ['its status has other gateways']),
    ...['Ready', 'RepoCloned', 'AllGatewaysSynced']
      .filter((type) => !isTrue(type))
      .map((type) => `${type} is not True`),
  ];
}

/** Agents must be told the same as by an operator that was never killed, also one after the other. */
function judgeMetadata(objects: Found['objects'], sync: IgnitionSync, expected: ExpectedSync): readonly string[] {
  const { data }: ConfigMap = objects.get(`ConfigMap ${objectNames(expected.name).metadata}`) ?? {};
  const told = decodeMetadata(data);
  const { ref, commit, rollback, gateways } = expected;
  const planned = Object.keys(told.plan).sort();
  const wrong = Object.entries(told.plan).filter(
    ([pod, plan]) => plan.commit !== commit || plan.ref !== ref || desiredHash(told, pod) === undefined,
  );
  return [
    ...(told.ref === ref && told.commit === commit ? [] : [`agents are told ${told.ref} at ${told.commit}`]),
    ...(isDeepStrictEqual(told.rollback, rollback) ? [] : ['agents are told another rollback']),
    ...(told.crUID === sync.metadata?.uid ? [] : ['agents are told another uid']),
    ...(isDeepStrictEqual(planned, Object.keys(gateways).sort()) ? [] : [`the plan has ${planned.join()}`]),
    ...wrong.map(([pod]) => `the plan keeps ${pod} from its commit`),
  ];
}

function judgeAccess(objects: Found['objects'], { name, accounts }: ExpectedSync): readonly string[] {
  const { agent } = objectNames(name);
  const role: Role = objects.get(`Role ${agent}`) ?? {};
  const binding = objects.get(`RoleBinding ${agent}`) as RoleBinding | undefined;
  const bound = binding?.subjects?.map((subject) => subject.name);
  return [
    ...(isDeepStrictEqual(role.rules, agentRules(name)) ? [] : ['its Role has other rules']),
    ...(isDeepStrictEqual(bound, accounts) ? [] : [`its RoleBinding has ${bound?.join() ?? 'no accounts'}`]),
  ];
}

function judgeExchange(objects: Found['objects'], { name, reports }: ExpectedSync): readonly string[] {
  const { status, changes } = objectNames(name);
  const dataOf = (each: string): Readonly<Record<string, string>> => {
    const { data = {} }: ConfigMap = objects.get(`ConfigMap ${each}`) ?? {};
    return data;
  };
  return [
    ...(isDeepStrictEqual(dataOf(status), reports) ? [] : ['the reports of its agents were changed']),
    ...(isDeepStrictEqual(dataOf(changes), {}) ? [] : ['changes were invented']),
  ];
}

/** The ConfigMaps that agents write are not owned: reports survive until the cleanup. */
function judgeOwners(objects: Found['objects'], sync: IgnitionSync, expected: ExpectedSync): readonly string[] {
  const { status, changes } = objectNames(expected.name);
  const unowned = new Set([`ConfigMap ${status}`, `ConfigMap ${changes}`]);
  return objectsOf(expected)
    .filter((id) => {
      const owners = objects.get(id)?.metadata?.ownerReferences ?? [];
      return unowned.has(id) ? owners.length > 0 : owners.length !== 1 || owners[0]?.uid !== sync.metadata?.uid;
    })
    .map((id) => `${id} has another owner`);
}

function hasNote(object: KubernetesObject | undefined): boolean {
  const { metadata, data }: ConfigMap = object ?? {};
  return metadata?.annotations?.[NOTE] !== undefined || data?.[NOTE_KEY] !== undefined;
}
