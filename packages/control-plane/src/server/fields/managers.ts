import { canonicalFields, type FieldsV1, isEmptySet, NO_FIELDS, uniteFields } from '@bowline/machinery';
import type { DraftMeta } from '../registry/api-resource.ts';

type Entry = NonNullable<DraftMeta['managedFields']>[number];
type Entries = readonly Entry[];

/** Manager owns fields of an object, by one operation. */
export interface Manager {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  /** When it last changed something; undefined if it never did. */
  readonly time: string | undefined;
  readonly fields: FieldsV1;
}

/** Managers holds the managers of one object, by identity. */
export type Managers = Map<string, Manager>;

/**
 * identityOf returns the identity of a manager: two entries with the same identity are the same manager. A manager that
 * applies has the same identity in every version. The identity is JSON, because its order determines the order in
 * messages, and the order by age where times are equal.
 */
export function identityOf(entry: Pick<Manager, 'manager' | 'operation' | 'apiVersion' | 'subresource'>): string {
  const { manager, operation, apiVersion, subresource } = entry;
  return JSON.stringify({
    manager: manager || undefined,
    operation,
    apiVersion: operation === 'Apply' ? undefined : apiVersion,
    subresource: subresource || undefined,
  });
}

/** storedManagers parses stored entries, which this server wrote itself. */
export function storedManagers(entries: Entries | undefined): Managers {
  return readManagers(entries ?? [], (fields) => fields as FieldsV1) ?? new Map<string, Manager>();
}

/** sentManagers parses entries that a client sent; it returns undefined if they are invalid. */
export function sentManagers(entries: readonly (Entry | null)[]): Managers | undefined {
  return readManagers(entries, canonicalFields);
}

function readManagers(
  entries: readonly (Entry | null)[],
  read: (fields: unknown) => FieldsV1 | undefined,
): Managers | undefined {
  const managers: Managers = new Map();
  for (const entry of entries) {
    // A client may have sent null.
    const { manager = '', operation, apiVersion, subresource = '', time, fieldsType, fieldsV1 } = entry ?? {};
    const fields = read(fieldsV1);
    if (operation !== 'Apply' && operation !== 'Update') return undefined;
    if (!apiVersion || fieldsType !== 'FieldsV1' || !fields) return undefined;
    const known: Manager = { manager, operation, apiVersion, subresource, time: time ?? undefined, fields };
    managers.set(identityOf(known), known);
  }
  return managers;
}

/**
 * requestsReset reports whether a client clears all ownership. Formats without empty lists encode this as a single empty
 * entry.
 */
export function requestsReset(entries: readonly (Entry | null)[]): boolean {
  const [first, ...more] = entries;
  return first === undefined || (more.length === 0 && Object.values(first ?? {}).every((value) => value === undefined));
}

/** writtenManagers returns the entries of the object, in the API server's order; undefined if there are no managers. */
export function writtenManagers(managers: Managers): Entries | undefined {
  if (managers.size === 0) return undefined;
  const entries = [...managers.values()];
  if (entries.length > 1) entries.sort(inOrder);
  return entries.map(({ manager, operation, apiVersion, time, fields, subresource }) => ({
    ...(manager === '' ? {} : { manager }),
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: fields,
    ...(subresource === '' ? {} : { subresource }),
  }));
}

function inOrder(a: Manager, b: Manager): number {
  return (
    compare(a.operation, b.operation) ||
    secondsOf(a) - secondsOf(b) ||
    compare(a.manager, b.manager) ||
    compare(a.apiVersion, b.apiVersion) ||
    compare(a.subresource, b.subresource)
  );
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

function secondsOf({ time }: Manager): number {
  return time === undefined ? 0 : Math.floor(Date.parse(time) / 1000) || 0;
}

/** removeFields removes fields from every manager; a manager without fields is removed. */
export function removeFields(managers: Managers, take: (entry: Manager, identity: string) => FieldsV1): void {
  for (const [identity, entry] of managers) {
    const fields = take(entry, identity);
    if (isEmptySet(fields)) managers.delete(identity);
    else if (fields !== entry.fields) managers.set(identity, { ...entry, fields });
  }
}

/** How many managers that update an object are listed separately. */
const MAX_UPDATERS = 10;

/** The manager that owns the fields of the oldest updaters when there are too many. */
const ANCIENT_CHANGES = 'ancient-changes';

/** poolOldest merges the oldest updaters of each version into one manager when there are too many. */
export function poolOldest(managers: Managers): void {
  let count = 0;
  for (const { operation } of managers.values()) if (operation === 'Update') count++;
  if (count <= MAX_UPDATERS) return;
  const updaters = [...managers].filter(([, { operation }]) => operation === 'Update');
  updaters.sort(([a, one], [b, other]) => secondsOf(one) - secondsOf(other) || compare(a, b));
  const firsts = new Map<string, string>();
  for (const [identity, { apiVersion, fields, time }] of updaters) {
    if (count <= MAX_UPDATERS) return;
    const first = firsts.get(apiVersion);
    if (first === undefined) {
      firsts.set(apiVersion, identity);
      continue;
    }
    const pool = { manager: ANCIENT_CHANGES, operation: 'Update', apiVersion, subresource: '', time, fields } as const;
    const pooled = managers.get(identityOf(pool)) ?? managers.get(first);
    managers.delete(identity);
    if (!managers.has(identityOf(pool))) managers.delete(first);
    managers.set(identityOf(pool), { ...pool, fields: uniteFields(pooled?.fields ?? NO_FIELDS, fields) });
    count--;
  }
}
