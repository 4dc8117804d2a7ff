import type { KubernetesObject } from '@bowline/kubernetes';
import { age } from '../registry/age.ts';
import type { ApiResource, TableColumn } from '../registry/api-resource.ts';
import { objectOf, type Stored } from '../storage/stored.ts';
import type { FormOptions } from './forms.ts';
import { typedText } from './render.ts';

const NAME: TableColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Name must be unique within a namespace.',
  priority: 0,
  cell: ({ metadata }) => metadata?.name ?? '',
};

const AGE: TableColumn = {
  name: 'Age',
  type: 'string',
  format: '',
  description: 'The time since the object was created.',
  priority: 0,
  cell: ({ metadata }, now) => age(metadata?.creationTimestamp, now),
};

/** tableText writes objects as a table, the form that `kubectl get` prints. */
export function tableText(
  { resource, includeObject, now }: FormOptions,
  states: readonly Stored[],
  metadata: object,
  hasHeading = true,
): string {
  const columns = columnsOf(resource);
  const heading = columns.map(({ name, type, format, description, priority }) => ({
    name,
    type,
    format,
    description,
    priority,
  }));
  const rows = states.map((stored) => {
    const object = objectOf(stored);
    const cells = JSON.stringify(columns.map(({ cell }) => cell(object, now) ?? null));
    const carried = carriedText(resource, stored, object, includeObject);
    const conditions = resource.rowConditions?.(object) ?? [];
    const marks = conditions.length === 0 ? '' : `,"conditions":${JSON.stringify(conditions)}`;
    return `{"cells":${cells}${marks},"object":${carried}}`;
  });
  const head = `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":${JSON.stringify(metadata)}`;
  // Kinds without columns of their own have null rows in an empty table.
  const isPlain = columns.some(({ name }) => name === 'Created At');
  const body = rows.length === 0 && isPlain ? 'null' : `[${rows.join(',')}]`;
  return `${head},"columnDefinitions":${JSON.stringify(hasHeading ? heading : null)},"rows":${body}}`;
}

/**
 * columnsOf returns all columns of a resource: the name, unless its own columns include one, followed by its own
 * columns or the age.
 */
function columnsOf({ columns = [AGE] }: ApiResource): readonly TableColumn[] {
  return columns.some(({ format }) => format === NAME.format) ? columns : [NAME, ...columns];
}

function carriedText(
  resource: ApiResource,
  stored: Stored,
  { metadata }: KubernetesObject,
  include: string | null,
): string {
  if (include === 'None') return 'null';
  if (include === 'Object') return typedText(resource, stored);
  return JSON.stringify({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata });
}
