import { canonicalSchema, type StructuralSchema, type ValidationRule } from '../structural-schema/structural-schema.ts';
import type { AnySchema } from './builder/primitives.ts';

/** Column is a column in the output of `kubectl get`. */
export interface Column {
  readonly name: string;
  /** The path of the value: `.spec.size`, `.status.conditions[?(@.type=="Ready")].status`. */
  readonly path: string;
  /** Defaults to the type in the schema for a simple path, otherwise to string. */
  readonly type?: 'integer' | 'number' | 'string' | 'boolean' | 'date' | undefined;
  /** For instance `int32`, `byte`, `date-time`. Defaults to none. */
  readonly format?: string | undefined;
  readonly description?: string | undefined;
  /** Columns with a priority above 0 are shown with `-o wide` only. Defaults to 0. */
  readonly priority?: number | undefined;
}

/** Scale names the fields of the scale subresource. */
export interface Scale {
  /** For instance `.spec.replicas`. */
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  /** The path of a selector in text form, for autoscalers. Defaults to none. */
  readonly labelSelectorPath?: string | undefined;
}

/** VersionDefinition is one version of a kind. */
export interface VersionDefinition {
  /** `v1`, `v1alpha1`, … */
  readonly version: string;
  /** The description of the kind, for `kubectl explain` and its reference page. Defaults to none. */
  readonly description?: string | undefined;
  /** The schema of `spec`. Defaults to none: objects of the kind have no spec. */
  readonly spec?: AnySchema | undefined;
  /** The schema of `status`; adds a status subresource. Defaults to none. */
  readonly status?: AnySchema | undefined;
  /** Rules on the whole object; they may read `self.metadata.name`. Defaults to none. */
  readonly rules?: readonly ValidationRule[] | undefined;
  /** Additional columns. An `Age` column is appended unless there is one. Defaults to name and age only. */
  readonly columns?: readonly Column[] | undefined;
  /**
   * Fields that can be used in field selectors: `.spec.color`. At most eight, each text, boolean or integer. Defaults
   * to none.
   */
  readonly selectableFields?: readonly string[] | undefined;
  /** Adds a scale subresource. Defaults to none. */
  readonly scale?: Scale | undefined;
  /** Whether the API server serves the version. Defaults to true. */
  readonly served?: boolean | undefined;
  /** Whether objects are stored in this version. Defaults to true for the first version and to false for others. */
  readonly storage?: boolean | undefined;
  /** Whether clients receive a deprecation warning; a text replaces the warning. Defaults to false. */
  readonly deprecated?: boolean | string | undefined;
}

/** ResourceNames holds the names of a kind. */
export interface ResourceNames {
  readonly group: string;
  readonly kind: string;
  readonly scope: 'Namespaced' | 'Cluster';
  /** Defaults to the English plural of the kind in lower case. */
  readonly plural?: string | undefined;
  /** Defaults to the kind in lower case. */
  readonly singular?: string | undefined;
  /** Defaults to none. */
  readonly shortNames?: readonly string[] | undefined;
  /** The categories of the kind: `kubectl get <category>` includes it. Defaults to none. */
  readonly categories?: readonly string[] | undefined;
  /** Annotations of the CustomResourceDefinition. Defaults to none. */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  /** Labels of the CustomResourceDefinition. Defaults to none. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** ResourceDefinition is a kind with one version, or with several (`versions`). */
export type ResourceDefinition = ResourceNames &
  (VersionDefinition | { readonly versions: readonly [VersionDefinition, ...VersionDefinition[]] });

/** versionsOf returns the versions of a definition; exactly one of them is the storage version. */
export function versionsOf(
  definition: ResourceDefinition,
): readonly (VersionDefinition & { readonly storage: boolean })[] {
  const versions = 'versions' in definition ? definition.versions : [definition];
  const isChosen = versions.some(({ storage }) => storage === true);
  return versions.map((version, index) => ({ ...version, storage: version.storage ?? (!isChosen && index === 0) }));
}

/** pluralOf returns the plural of a kind: the given one, or the English plural. */
export function pluralOf({ kind, plural }: Pick<ResourceNames, 'kind' | 'plural'>): string {
  if (plural !== undefined) return plural;
  const singular = kind.toLowerCase();
  if (/(?:s|x|z|ch|sh)$/.test(singular)) return `${singular}es`;
  return /[^aeiou]y$/.test(singular) ? `${singular.slice(0, -1)}ies` : `${singular}s`;
}

const TEXT: StructuralSchema = Object.freeze({ type: 'string' });
const OBJECT: StructuralSchema = Object.freeze({ type: 'object' });

/** resourceSchema returns the schema of a kind's whole objects in one version. */
export function resourceSchema(version: VersionDefinition): StructuralSchema {
  const { spec, status } = version;
  const properties: Record<string, StructuralSchema> = { apiVersion: TEXT, kind: TEXT, metadata: OBJECT };
  if (spec !== undefined) properties.spec = spec.json;
  if (status !== undefined) properties.status = status.json;
  const isSpecRequired = spec !== undefined && !spec.isOptional && spec.json.default === undefined;
  return canonicalSchema({
    type: 'object',
    description: version.description,
    properties: Object.freeze(properties),
    required: isSpecRequired ? Object.freeze(['spec']) : undefined,
    'x-kubernetes-validations': version.rules === undefined || version.rules.length === 0 ? undefined : version.rules,
  });
}
