import { schemaFor } from '@bowline/kubernetes/schemas';
import { builtInShape } from '@bowline/machinery';
import type { Verb } from '../http/request-info.ts';
import type { ApiResource, Strategy, Subresource } from './api-resource.ts';
import { BUILT_IN_KINDS, type BuiltInKind } from './built-in-kinds.ts';
import { builtInStrategy, statusStrategy } from './built-in-strategy.ts';
import { KIND_RULES } from './kind-rules.ts';
import type { NameRule } from './names.ts';
import { SELECTABLE_FIELDS } from './selectable-fields.ts';

const ALL_VERBS: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

/** Kinds whose names follow a rule other than the default. */
const NAME_RULES: Readonly<Record<string, NameRule>> = {
  Namespace: 'label',
  Service: 'service',
  // The names of its pods begin with its name, and are DNS labels.
  StatefulSet: 'label',
  Role: 'path',
  ClusterRole: 'path',
  RoleBinding: 'path',
  ClusterRoleBinding: 'path',
};

/** Kinds whose updates must specify the resourceVersion that they replace. */
const NEEDS_VERSION: ReadonlySet<string> = new Set([
  'CustomResourceDefinition',
  'Lease',
  'MutatingWebhookConfiguration',
  'PodDisruptionBudget',
  'ResourceQuota',
  'ValidatingWebhookConfiguration',
]);

/** Kinds for which an update creates a missing object. */
const CREATES_ON_UPDATE: ReadonlySet<string> = new Set([
  'ClusterRole',
  'ClusterRoleBinding',
  'Endpoints',
  'Event',
  'Lease',
  'LimitRange',
  'Role',
  'RoleBinding',
  'Service',
]);

/** Resets metadata that a status update must not change, for kinds where it may not change all mutable metadata. */
const KEEPS_OF_STATUS: Readonly<Record<string, Strategy['prepareForUpdate']>> = {
  'Deployment.apps': (object, old) => {
    object.metadata.labels = old.metadata.labels;
  },
};

/** builtInResources returns the resources that exist before any CustomResourceDefinition is created. */
export function builtInResources(): ApiResource[] {
  return BUILT_IN_KINDS.flatMap(({ group, version, kinds }) =>
    kinds.map((kind) => builtInResource(group, version, kind)),
  );
}

function builtInResource(group: string, version: string, table: BuiltInKind): ApiResource {
  const { kind, resource, singular, scope = 'Namespaced', shortNames = [], categories = [], verbs = ALL_VERBS } = table;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const schema = schemaFor(apiVersion, kind);
  if (!schema) throw new TypeError(`no schema is known for ${kind} in ${apiVersion}`);
  const parts = table.subresources ?? [];
  const hasStatus = parts.some(({ name }) => name === 'status');
  const id = `${kind}.${group}`;
  const rules = KIND_RULES[id] ?? {};
  const strategy = builtInStrategy(kind, version, schema, { ...rules, hasStatus });
  const subresources = parts.map((part): Subresource => {
    const own = rules.subresources?.[part.name]?.(strategy);
    if (part.name !== 'status') return { ...part, ...own };
    return { ...part, strategy: statusStrategy(strategy, KEEPS_OF_STATUS[id]), ...own };
  });
  return {
    group,
    version,
    resource,
    singular,
    kind,
    listKind: `${kind}List`,
    scope,
    shortNames,
    categories,
    verbs,
    subresources: new Map(subresources.map((part) => [part.name, part])),
    // Both groups of events share one store.
    collection: kind === 'Event' ? 'events' : group === '' ? resource : `${resource}.${group}`,
    listsTypedItems: false,
    strategy,
    nameRule: NAME_RULES[kind] ?? 'subdomain',
    needsVersion: NEEDS_VERSION.has(kind),
    createsOnUpdate: CREATES_ON_UPDATE.has(kind),
    shape: builtInShape(apiVersion, kind),
    schema,
    selectableFields: SELECTABLE_FIELDS[id] ?? new Map(),
    columns: rules.columns,
    rowConditions: rules.rowConditions,
    viewOf: rules.viewOf,
    deprecation: rules.deprecation,
  };
}
