import type { CustomResourceDefinition } from '@bowline/kubernetes/apiextensions-v1';
import { resolveFieldPath } from '../cel/field-path.ts';
import type { StructuralSchema } from '../structural-schema/structural-schema.ts';
import { checkDefinition } from './check-definition.ts';
import {
  type Column,
  pluralOf,
  type ResourceDefinition,
  resourceSchema,
  type VersionDefinition,
  versionsOf,
} from './resource-definition.ts';

/**
 * renderCustomResourceDefinition returns the CRD of a kind, as it is applied to a cluster. It throws
 * `BOWLINE_CRD_INVALID` for names, columns or paths that the API server would reject or that do not exist.
 *
 * @example
 * renderCustomResourceDefinition({ group: 'example.com', version: 'v1', kind: 'Site', scope: 'Namespaced', spec: s.object({}) });
 */
export function renderCustomResourceDefinition(definition: ResourceDefinition): CustomResourceDefinition {
  const plural = pluralOf(definition);
  const { group, kind, scope, shortNames = [], categories = [], annotations, labels } = definition;
  checkDefinition(definition);
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: definition.singular ?? kind.toLowerCase(),
        ...(shortNames.length === 0 ? {} : { shortNames }),
        ...(categories.length === 0 ? {} : { categories: [...new Set(categories)] }),
      },
      scope,
      versions: versionsOf(definition).map(renderVersion),
    },
  };
}

type CrdVersion = CustomResourceDefinition['spec']['versions'][number];

function renderVersion(version: VersionDefinition & { readonly storage: boolean }): CrdVersion {
  const { columns = [], selectableFields = [], deprecated = false, scale, status } = version;
  const root = resourceSchema(version);
  return {
    name: version.version,
    served: version.served ?? true,
    storage: version.storage,
    ...(deprecated === false ? {} : { deprecated: true }),
    ...(typeof deprecated === 'string' ? { deprecationWarning: deprecated } : {}),
    schema: { openAPIV3Schema: root },
    ...(status === undefined && scale === undefined
      ? {}
      : {
          subresources: { ...(status === undefined ? {} : { status: {} }), ...(scale === undefined ? {} : { scale }) },
        }),
    ...(columns.length === 0
      ? {}
      : { additionalPrinterColumns: withAge(columns).map((column) => renderColumn(column, root)) }),
    ...(selectableFields.length === 0 ? {} : { selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })) }),
  } as CrdVersion;
}

function withAge(columns: readonly Column[]): readonly Column[] {
  if (columns.some(({ name }) => name.toLowerCase() === 'age')) return columns;
  return [...columns, { name: 'Age', path: '.metadata.creationTimestamp', type: 'date' }];
}

function renderColumn(column: Column, root: StructuralSchema): object {
  const { name, path, format, description, priority } = column;
  return {
    name,
    type: column.type ?? columnType(path, root),
    jsonPath: path,
    ...(format === undefined ? {} : { format }),
    ...(description === undefined ? {} : { description }),
    ...(priority === undefined || priority === 0 ? {} : { priority }),
  };
}

function columnType(path: string, root: StructuralSchema): NonNullable<Column['type']> {
  const found = /^(?:\.[\w-]+)+$/.test(path) ? resolveFieldPath(path, root) : undefined;
  if (found === undefined || 'problem' in found) return 'string';
  const { type, format } = found.schema;
  if (type === 'integer' || type === 'number' || type === 'boolean') return type;
  return format === 'date-time' ? 'date' : 'string';
}
