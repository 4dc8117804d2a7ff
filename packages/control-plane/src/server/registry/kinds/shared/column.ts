import type { KubernetesObject, LabelSelector } from '@bowline/kubernetes';
import { labelSelector } from '@bowline/machinery';
import { age } from '../../age.ts';
import type { TableColumn } from '../../api-resource.ts';
import type { PartialObject } from './partial-object.ts';

type Cell = TableColumn['cell'];

/** column returns a text column. */
export function column(name: string, description: string, cell: Cell, more: Partial<TableColumn> = {}): TableColumn {
  return { name, type: 'string', format: '', description, priority: 0, ...more, cell };
}

/** wide returns a text column that only `-o wide` displays. */
export function wide(name: string, description: string, cell: Cell): TableColumn {
  return column(name, description, cell, { priority: 1 });
}

/** count returns an integer column. */
export function count(name: string, description: string, cell: Cell): TableColumn {
  return column(name, description, cell, { type: 'integer' });
}

/** AGE is the column with the age of an object. */
export const AGE = column('Age', 'Time since the object was created.', ({ metadata }, now) =>
  age(metadata?.creationTimestamp, now),
);

/** CREATED_AT replaces the age in tables of kinds without columns of their own. */
export const CREATED_AT = column(
  'Created At',
  'When the object was created.',
  ({ metadata }) => metadata?.creationTimestamp,
  {
    type: 'date',
  },
);

/** as casts an object to its kind. */
export function as<T>(object: KubernetesObject): PartialObject<T> {
  // A column is used only for objects of its kind.
  return object as PartialObject<T>;
}

/** selectorText formats a selector as kubectl displays it. */
export function selectorText(selector: PartialObject<LabelSelector> | undefined): string {
  if (!selector) return '<none>';
  // It was validated before it was stored.
  return labelSelector(selector as LabelSelector).toString() || '<none>';
}

interface Template {
  readonly spec?: {
    readonly template?: {
      readonly spec?: {
        readonly containers?: readonly { readonly name?: string | undefined; readonly image?: string | undefined }[];
      };
    };
  };
}

/** CONTAINERS and IMAGES display the containers of a pod template. */
export const CONTAINERS = wide('Containers', 'Names of the containers in the pod template.', (object) =>
  containersOf(object)
    .map(({ name = '' }) => name)
    .join(','),
);
export const IMAGES = wide('Images', 'Images of the containers in the pod template.', (object) =>
  containersOf(object)
    .map(({ image = '' }) => image)
    .join(','),
);

function containersOf(object: KubernetesObject) {
  return (object as Template).spec?.template?.spec?.containers ?? [];
}
