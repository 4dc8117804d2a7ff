import { GROUP, SINGLETON, VERSION } from './names.ts';

const READY = '.status.conditions[?(@.type=="Ready")]';

/** readyColumns are the columns that all kinds have before their age. */
export const readyColumns = [
  { name: 'Ready', path: `${READY}.status` },
  { name: 'Reason', path: `${READY}.reason`, priority: 1 },
] as const;

/** singletonOf returns the parts of a definition that all kinds share. */
export function singletonOf<const Kind extends string>(kind: Kind) {
  return {
    group: GROUP,
    version: VERSION,
    kind,
    scope: 'Cluster',
    categories: ['bowline'],
    rules: [
      {
        rule: `self.metadata.name == '${SINGLETON}'`,
        message: `${kind} is a singleton: metadata.name must be "${SINGLETON}"; create the object under this name`,
      },
    ],
  } as const;
}
