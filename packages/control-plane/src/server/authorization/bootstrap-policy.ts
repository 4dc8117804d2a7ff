import {
  apiVersionOf,
  type ClusterRole,
  type ClusterRoleBinding,
  type PolicyRule,
  type Role,
  type RoleBinding,
  type Subject,
} from '@bowline/kubernetes';
import type { Clock, Random } from '@bowline/machinery';
import { ALL_AUTHENTICATED, ALL_UNAUTHENTICATED, MASTERS } from '../authentication/user-info.ts';
import type { FieldTracking } from '../fields/field-tracking.ts';
import { prepareNewMeta } from '../objects/object-meta.ts';
import { draftOf } from '../printing/render.ts';
import type { ApiResource, Draft } from '../registry/api-resource.ts';
import type { Registry } from '../registry/registry.ts';
import type { Storage } from '../storage/storage.ts';
import { keyIn, type Stored } from '../storage/stored.ts';
import { AGGREGATION_MANAGER, aggregatedRules } from './aggregation.ts';
import { bootstrapRules } from './bootstrap-rules.ts';
import { compileRule, objectsIn, rulesIn } from './policy-rule.ts';
import { RBAC_GROUP } from './rbac-index.ts';
import { missingRights } from './rule-coverage.ts';

/** An object with this annotation set to false is managed by the user. */
const AUTO_UPDATE = 'rbac.authorization.kubernetes.io/autoupdate';
const MANAGER = 'kube-apiserver';
const CONTROLLER = 'system:controller:';

/**
 * The user-facing roles aggregate all roles that carry their label; each role, in this order, includes the one before
 * it.
 */
const AGGREGATED = [
  { name: 'view', label: 'edit' },
  { name: 'edit', label: 'admin' },
  { name: 'admin', label: undefined },
] as const;

/** BootstrapOptions holds the dependencies of writing the bootstrap roles. */
export interface BootstrapOptions {
  readonly storage: Storage;
  readonly registry: Registry;
  readonly fields: FieldTracking;
  readonly clock: Clock;
  readonly random: Random;
}

interface BootstrapParts extends BootstrapOptions {
  /**
   * managedFields of objects that were already written, by the shape of the object: well over a hundred objects share a
   * few shapes.
   */
  readonly owned: Map<string, Draft['metadata']['managedFields']>;
}

/**
 * ensureBootstrapPolicy creates the roles and bindings that every cluster has. To existing ones it adds what is missing
 * and keeps everything else, unless their annotation marks them as managed by the user.
 */
export function ensureBootstrapPolicy(options: BootstrapOptions): void {
  const parts = { ...options, owned: new Map() };
  for (const role of clusterRoles()) ensure(parts, 'clusterroles', role);
  for (const binding of clusterRoleBindings()) ensure(parts, 'clusterrolebindings', binding);
  ensure(parts, 'roles', AUTHENTICATION_READER);
  ensure(parts, 'rolebindings', AUTHENTICATION_READERS);
}

function clusterRoles(): ClusterRole[] {
  const aggregated = AGGREGATED.map(({ name, label }): ClusterRole => {
    const matchLabels = { [aggregateTo(name)]: 'true' };
    const labels = label ? { [aggregateTo(label)]: 'true' } : {};
    return { metadata: { name, labels }, aggregationRule: { clusterRoleSelectors: [{ matchLabels }] } };
  });
  const plain = [...bootstrapRules()].map(([name, rules]): ClusterRole => {
    const of = /^system:aggregate-to-(\w+)$/.exec(name)?.[1];
    return { metadata: { name, labels: of ? { [aggregateTo(of)]: 'true' } : {} }, rules };
  });
  return [...plain, ...aggregated];
}

function clusterRoleBindings(): ClusterRoleBinding[] {
  const controllers = [...bootstrapRules().keys()]
    .filter((name) => name.startsWith(CONTROLLER))
    .map((name) => binding(name, account(name.slice(CONTROLLER.length))));
  return [
    binding('cluster-admin', group(MASTERS)),
    binding('system:discovery', group(ALL_AUTHENTICATED)),
    binding('system:basic-user', group(ALL_AUTHENTICATED)),
    binding('system:public-info-viewer', group(ALL_AUTHENTICATED), group(ALL_UNAUTHENTICATED)),
    binding('system:service-account-issuer-discovery', group('system:serviceaccounts')),
    binding('system:monitoring', group('system:monitoring')),
    binding('system:kube-controller-manager', user('system:kube-controller-manager')),
    binding('system:kube-scheduler', user('system:kube-scheduler')),
    binding('system:volume-scheduler', user('system:kube-scheduler')),
    ...controllers,
  ];
}

const READER = 'extension-apiserver-authentication-reader';

/** Aggregated API servers are expected to bind themselves to this role. */
const AUTHENTICATION_READER: Role = {
  metadata: { name: READER, namespace: 'kube-system' },
  rules: [
    {
      verbs: ['get', 'list', 'watch'],
      apiGroups: [''],
      resources: ['configmaps'],
      resourceNames: ['extension-apiserver-authentication'],
    },
  ],
};

const AUTHENTICATION_READERS: RoleBinding = {
  metadata: { name: `system::${READER}`, namespace: 'kube-system' },
  roleRef: { apiGroup: RBAC_GROUP, kind: 'Role', name: READER },
  subjects: [user('system:kube-controller-manager'), user('system:kube-scheduler')],
};

type Policy = ClusterRole | ClusterRoleBinding | Role | RoleBinding;

function ensure(parts: BootstrapParts, plural: string, policy: Policy): void {
  const { storage, registry, fields, clock, random, owned } = parts;
  const resource = registry.find(RBAC_GROUP, 'v1', plural);
  if (!resource) return;
  const { name = '', namespace } = policy.metadata ?? {};
  const stored = storage.get(resource.collection, keyIn(namespace, name));
  if (stored) {
    complete(parts, resource, stored, policy);
    return;
  }
  const now = clock.now();
  const labels = { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...policy.metadata?.labels };
  const draft: Draft = { ...policy, metadata: { name, namespace, labels, annotations: { [AUTO_UPDATE]: 'true' } } };
  prepareNewMeta(draft, random, now);
  const aggregationRule = 'aggregationRule' in policy ? policy.aggregationRule : undefined;
  const shape = JSON.stringify([resource.kind, Object.keys(policy), Object.keys(labels), aggregationRule]);
  const known = owned.get(shape);
  if (known) draft.metadata.managedFields = known;
  else {
    fields.created(resource, draft, { manager: MANAGER, subresource: '', now });
    owned.set(shape, draft.metadata.managedFields);
  }
  if (aggregationRule) {
    aggregateAtOnce(draft, resource, aggregatedRules(storage, keyIn(namespace, name), aggregationRule));
  }
  storage.create(resource.collection, keyIn(namespace, name), draft);
}

/**
 * Sets the rules that aggregation would apply a moment later: those applies would be most of the cost of writing the
 * bootstrap roles.
 */
function aggregateAtOnce(draft: Draft, resource: ApiResource, rules: readonly PolicyRule[]): void {
  draft.rules = rules;
  const { metadata } = draft;
  const entry = {
    manager: AGGREGATION_MANAGER,
    operation: 'Apply',
    apiVersion: apiVersionOf(resource),
    time: metadata.creationTimestamp,
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:rules': {} },
  };
  metadata.managedFields = [entry, ...(metadata.managedFields ?? [])];
}

/** complete adds what is missing in a stored role or binding. */
function complete(
  { storage, fields, clock }: BootstrapParts,
  resource: ApiResource,
  stored: Stored,
  policy: Policy,
): void {
  const old = draftOf(stored);
  if (old.metadata.annotations?.[AUTO_UPDATE] === 'false') return;
  const object = draftOf(stored);
  if ('roleRef' in policy) {
    const { roleRef, subjects } = old as Partial<RoleBinding>;
    const had = objectsIn(subjects);
    // A binding with our name refers to another role: do not add subjects to it.
    if (roleRef?.kind !== policy.roleRef.kind || roleRef.name !== policy.roleRef.name) return;
    const exists = (subject: Subject): boolean =>
      had.some(
        ({ kind, name, namespace }) =>
          kind === subject.kind && name === subject.name && namespace === subject.namespace,
      );
    const missing = (policy.subjects ?? []).filter((subject) => !exists(subject));
    if (missing.length === 0) return;
    object.subjects = [...had, ...missing];
  } else {
    const had = rulesIn(old);
    const held = had.map(compileRule);
    const missing = (policy.rules ?? []).filter((rule) => missingRights(held, [rule])?.length !== 0);
    if (missing.length === 0) return;
    object.rules = [...had, ...missing];
  }
  fields.updated(resource, object, old, { manager: MANAGER, subresource: '', now: clock.now() });
  storage.update(resource.collection, stored.key, stored.revision, object);
}

function aggregateTo(role: string): string {
  return `${RBAC_GROUP}/aggregate-to-${role}`;
}

function binding(role: string, ...subjects: Subject[]): ClusterRoleBinding {
  return { metadata: { name: role }, roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name: role }, subjects };
}

function group(name: string): Subject {
  return { apiGroup: RBAC_GROUP, kind: 'Group', name };
}

function user(name: string): Subject {
  return { apiGroup: RBAC_GROUP, kind: 'User', name };
}

function account(name: string): Subject {
  return { kind: 'ServiceAccount', name, namespace: 'kube-system' };
}
