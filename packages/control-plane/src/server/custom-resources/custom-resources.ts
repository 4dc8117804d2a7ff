import {
  apiVersionOf,
  type CustomResourceDefinition,
  type CustomResourceDefinitionVersion,
  type KubernetesObject,
} from '@bowline/kubernetes';
import { canonicalJson, customShape } from '@bowline/machinery';
import type { StructuralSchema } from '@bowline/machinery/schema';
import { compareVersions } from '../discovery/version-order.ts';
import type { Verb } from '../http/request-info.ts';
import type { ApiResource, Subresource } from '../registry/api-resource.ts';
import { customScale } from './custom-scale.ts';
import { customStatusStrategy, customStrategy } from './custom-strategy.ts';
import { collectionOf } from './definition-rules.ts';
import { parseJsonPath } from './json-path.ts';
import { printerColumns } from './printer-columns.ts';
import { storedView } from './stored-view.ts';

/** In the order of the real server's discovery. */
const VERBS: readonly Verb[] = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const PART_VERBS: readonly Verb[] = ['get', 'patch', 'update'];

/** ServingContext holds what serving a definition depends on besides the definition itself. */
export interface ServingContext {
  /** The current revision: objects up to it may have been written under another schema. */
  readonly revision: number;
  readonly isTerminating: () => boolean;
}

/** customResources returns the served versions of a definition, under its accepted names. */
export function customResources(definition: CustomResourceDefinition, servingContext: ServingContext): ApiResource[] {
  const { versions } = definition.spec;
  const served = versions.filter((version) => version.served);
  const storage = versions.find((version) => version.storage) ?? served[0];
  // Versions with equal schemas share one schema object, so that it is compiled once.
  const schemas = new Map<string, StructuralSchema>();
  const schemaOf = (version: CustomResourceDefinitionVersion | undefined): StructuralSchema => {
    const schema = (version?.schema?.openAPIV3Schema ?? { type: 'object' }) as StructuralSchema;
    const text = canonicalJson(schema);
    const known = schemas.get(text) ?? schema;
    schemas.set(text, known);
    return known;
  };
  const stored = schemaOf(storage);
  const isUniform = served.every((version) => schemaOf(version) === stored);
  const shapedSince = isUniform ? servingContext.revision : Number.POSITIVE_INFINITY;
  return served.map((version) => {
    const shown = schemaOf(version);
    const viewOf = storedView({ stored, shown, shapedSince });
    return { ...versionResource(definition, version, shown, servingContext), storageVersion: storage?.name, viewOf };
  });
}

function versionResource(
  definition: CustomResourceDefinition,
  version: CustomResourceDefinitionVersion,
  schema: StructuralSchema,
  { isTerminating }: ServingContext,
): ApiResource {
  const { group, scope } = definition.spec;
  const names = definition.status?.acceptedNames ?? definition.spec.names;
  const { kind, plural, singular = '', listKind = `${kind}List`, shortNames = [], categories = [] } = names;
  const { scale, status } = version.subresources ?? {};
  const hasStatus = status !== undefined;
  const custom = {
    group,
    version: version.name,
    kind,
    resource: plural,
    schema,
    hasStatus,
    scale,
    isTerminating,
  };
  const strategy = customStrategy(custom);
  const parts: Subresource[] = [];
  if (hasStatus) parts.push({ name: 'status', verbs: PART_VERBS, strategy: customStatusStrategy(custom, strategy) });
  if (scale) {
    const projection = customScale(scale);
    const { group: ofGroup, version: ofVersion, kind: ofKind } = projection;
    parts.push({ name: 'scale', verbs: PART_VERBS, group: ofGroup, version: ofVersion, kind: ofKind, projection });
  }
  return {
    group,
    version: version.name,
    resource: plural,
    singular,
    kind,
    listKind,
    scope: scope === 'Cluster' ? 'Cluster' : 'Namespaced',
    shortNames,
    categories,
    verbs: VERBS,
    subresources: new Map(parts.map((part) => [part.name, part])),
    collection: collectionOf(definition),
    listsTypedItems: true,
    strategy,
    nameRule: 'subdomain',
    needsVersion: true,
    shape: customShape(schema),
    schema: undefined,
    structuralSchema: schema,
    selectableFields: new Map(
      (version.selectableFields ?? []).map(({ jsonPath }) => [jsonPath.replace(/^\./, ''), fieldReader(jsonPath)]),
    ),
    columns: printerColumns(version.additionalPrinterColumns),
    deprecation: deprecationOf(definition, version),
  };
}

/** fieldReader returns a function that reads a field as the text that selectors compare. */
function fieldReader(path: string): (object: KubernetesObject) => string {
  const find = parseJsonPath(path);
  return (object) => {
    const value = find?.(object)[0];
    return value === undefined || value === null ? '' : String(value);
  };
}

/**
 * deprecationOf returns the warning for clients of a deprecated version: its own text, or a hint at the newest version
 * that is not deprecated.
 */
function deprecationOf(
  { spec }: CustomResourceDefinition,
  version: CustomResourceDefinitionVersion,
): string | undefined {
  if (version.deprecated !== true) return undefined;
  if (version.deprecationWarning) return version.deprecationWarning;
  const nameOf = (name: string): string => `${apiVersionOf({ group: spec.group, version: name })} ${spec.names.kind}`;
  const better = spec.versions
    .filter((each) => each.served && each.deprecated !== true)
    .map(({ name }) => name)
    .filter((name) => compareVersions(name, version.name) < 0)
    .sort(compareVersions)[0];
  return `${nameOf(version.name)} is deprecated${better === undefined ? '' : `; use ${nameOf(better)}`}`;
}
