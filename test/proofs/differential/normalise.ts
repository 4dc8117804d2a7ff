import type { Names } from './pair.ts';

/** NormalisedResponse is a response without the parts that differ between servers and over time. */
export interface NormalisedResponse {
  readonly code: number;
  readonly contentType: string | undefined;
  readonly warning: string | undefined;
  readonly retryAfter: string | undefined;
  readonly body: unknown;
}

/** Fields whose values differ on every server or over time: only their presence is compared. */
const GENERATED_FIELDS: ReadonlySet<string> = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'lastTransitionTime',
  'lastUpdateTime',
  'lastPhaseTransitionTime',
  'startTime',
  'time',
  'continue',
  'serverAddress',
  'token',
  'expirationTimestamp',
  // The CA certificate.
  'ca.crt',
]);

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const VERSIONS =
  /(resource version: |current: |resourceVersion=|ResourceVersion in (?:precondition|object meta): |\()\d+/g;

/**
 * Objects that cannot be applied: the real server stops at the first undeclared field of an object; which one that is, and what
 * it has found below others by then, depends on the order of a Go map.
 */
const UNTYPED = /^failed to create typed patch object \(.* field not declared in schema(?:$|\n)/s;

/** Times in samples are of other days. */
const TODAY = new Date().toISOString().slice(0, 10);

interface Raw {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** normalised returns the comparable part of a response. */
export function normalised({ status, headers, body }: Raw, { namespace, own }: Names): NormalisedResponse {
  const here = (text: string): string =>
    text
      .replaceAll(namespace, 'NS')
      .replaceAll(own, 'OWN')
      .replaceAll(UUID, 'UUID')
      .replaceAll(VERSIONS, '$1N')
      .replaceAll(/"?\/[^"\s]*\/volumes\/pvc-UUID/g, 'FOLDER/pvc-UUID')
      .replaceAll(/\bkube-api-access-[a-z0-9]{5}\b/g, 'kube-api-access-DRAWN')
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, (time) => (time.startsWith(TODAY) ? 'NOW' : time))
      .replaceAll(/\b10\.0\.0\.\d+/g, '10.0.0.x');
  const below = (value: unknown, name: string, parent: unknown): unknown => {
    if (typeof value === 'string') {
      if (GENERATED_FIELDS.has(name) && value !== '') return 'DRAWN';
      if (name === 'message' && hasCauses(parent)) return here(value.slice(0, value.indexOf(': ')));
      if (name === 'message' && UNTYPED.test(value)) return here(value.slice(0, value.indexOf('): ')));
      if (name === 'name' && isGenerated(parent)) return 'GENERATED';
      if (name === 'description' && isColumn(parent)) return '';
      return here(value);
    }
    if ((name === 'nodePort' || name === 'healthCheckNodePort') && typeof value === 'number') return 'DRAWN';
    if (name === 'cells' && Array.isArray(value))
      return (value as readonly unknown[]).map((cell) => essentialCell(cell, here));
    if (name === 'causes' && Array.isArray(value)) {
      const essential = (quoted: unknown): unknown => below(quoted, '', undefined);
      return below(byPlace(value as readonly Cause[], essential), '', undefined);
    }
    if (name === 'managedFields' && Array.isArray(value))
      return byTime(value as readonly Managed[]).map((each) => below(each, '', undefined));
    if (Array.isArray(value)) return value.map((each) => below(each, '', undefined));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]): [string, unknown] => [here(key), below(member, key, value)]),
    );
  };
  return {
    code: status,
    contentType: headers['content-type'],
    warning: headers.warning === undefined ? undefined : here(inOrder(headers.warning)),
    retryAfter: headers['retry-after'],
    body: below(body, '', undefined),
  };
}

interface Cause {
  readonly field?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** The message of a rejection repeats its causes. */
function hasCauses(parent: unknown): boolean {
  return ((parent as { details?: { causes?: readonly unknown[] } }).details?.causes?.length ?? 0) > 0;
}

/**
 * byPlace ignores the order of problems, which is that of a Go map for some, and duplicates: the real server validates the
 * metadata of built-in kinds twice on update.
 */
function byPlace(causes: readonly Cause[], essential: (value: unknown) => unknown): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    causes.map(({ field = '', reason, message = '' }) => [`${field}: ${orderless(message, essential)}`, reason ?? '']),
  );
}

/** orderless sorts the members of objects quoted by a message, because they are unordered in JSON. */
function orderless(message: string, essential: (value: unknown) => unknown): string {
  return withQuoted(message, (value) => sorted(essential(value)));
}

/** withQuoted replaces the object quoted by a message, which is either a quoted string or plain JSON. */
export function withQuoted(message: string, change: (value: object) => unknown): string {
  const start = message.indexOf(QUOTE) + QUOTE.length;
  if (start < QUOTE.length) return message;
  const after = message.slice(start);
  const [text] = /^"(?:[^"\\]|\\.)*"/.exec(after) ?? [];
  // Plain JSON ends where it can be parsed.
  const ends = text === undefined ? [...after.matchAll(/\}(?=: )/g)].map(({ index }) => index + 1) : [text.length];
  for (const end of ends) {
    try {
      const quoted = JSON.parse(after.slice(0, end)) as unknown;
      const value = text === undefined ? quoted : (JSON.parse(String(quoted)) as unknown);
      if (typeof value !== 'object' || value === null) return message;
      const changed = JSON.stringify(change(value));
      return `${message.slice(0, start)}${text === undefined ? changed : JSON.stringify(changed)}${after.slice(end)}`;
    } catch {
      // Try the next end.
    }
  }
  return message;
}

const QUOTE = 'Invalid value: ';

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, sorted(member)]),
  );
}

interface Managed {
  readonly operation?: string;
  readonly time?: string;
  readonly manager?: string;
  readonly apiVersion?: string;
  readonly subresource?: string;
}

/** byTime ignores which of two writes was earlier: times have seconds, and a second may end between them on only one server. */
function byTime(managers: readonly Managed[]): readonly Managed[] {
  if (new Set(managers.map(({ time }) => time)).size <= 1) return managers;
  // Writes within one second are sorted this way.
  const place = ({ operation, manager, apiVersion, subresource }: Managed): string =>
    [operation, manager, apiVersion, subresource].join(' ');
  return managers.toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
}

/** Unknown fields are reported in the order of a map. */
function inOrder(warning: string): string {
  return warning
    .split(/, (?=299 - )/)
    .sort()
    .join(', ');
}

function isGenerated(parent: unknown): boolean {
  return typeof (parent as { generateName?: unknown } | undefined)?.generateName === 'string';
}

function isColumn(parent: unknown): boolean {
  return typeof parent === 'object' && parent !== null && 'priority' in parent && 'format' in parent;
}

function essentialCell(cell: unknown, here: (text: string) => string): unknown {
  if (typeof cell !== 'string') return cell;
  if (/^(\d+[smhdy])+$/.test(cell)) return 'AGE';
  if (/^\d{4}-\d\d-\d\dT[\d:]+Z$/.test(cell)) return 'TIME';
  return here(cell);
}
