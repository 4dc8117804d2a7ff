import type { KubernetesObject, LabelSelector } from '@bowline/kubernetes';
import { labelSelector } from '@bowline/machinery';
import { age } from '../../age.ts';
import type { TableColumn } from '../../api-resource.ts';
import type { Loose } from './loose.ts';

type Cell = TableColumn['cell'];

/** column is a column of text. */
export function column(name: string, description: string, cell: Cell, more: Partial<TableColumn> = {}): TableColumn {
  return { name, type: 'string', format: '', description, priority: 0, ...more, cell };
}

/** wide is a column of text that only `-o wide` shows. */
export function wide(name: string, description: string, cell: Cell): TableColumn {
  return column(name, description, cell, { priority: 1 });
}

/** count is a column of whole numbers. */
export function count(name: string, description: string, cell: Cell): TableColumn {
  return column(name, description, cell, { type: 'integer' });
}

/** AGE is how long an object has been there. */
export const AGE = column('Age', 'Time since the object was created.', ({ metadata }, now) =>
  age(metadata?.creationTimestamp, now),
);

/** CREATED_AT stands for the age in tables of kinds that have no table of their own. */
export const CREATED_AT = column(
  'Created At',
  'When the object was created.',
  ({ metadata }) => metadata?.creationTimestamp,
  {
    type: 'date',
  },
);

/** as reads an object as its kind. */
export function as<T>(object: KubernetesObject): Loose<T> {
  // A column is asked about objects of its kind only.
  return object as Loose<T>;
}

/** selectorText writes a selector as kubectl shows it. */
export function selectorText(selector: Loose<LabelSelector> | undefined): string {
  if (!selector) return '<none>';
  // It was judged before it was stored.
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

/** CONTAINERS and IMAGES tell what a template runs. */
export const CONTAINERS = wide('Containers', 'Names of the containers of the template.', (object) =>
  containersOf(object)
    .map(({ name = '' }) => name)
    .join(','),
);
export const IMAGES = wide('Images', 'Images of the containers of the template.', (object) =>
  containersOf(object)
    .map(({ image = '' }) => image)
    .join(','),
);

function containersOf(object: KubernetesObject) {
  return (object as Template).spec?.template?.spec?.containers ?? [];
}
