import { notAcceptable, nothingAcceptable } from '../status/api-status.ts';

/** Representation is the form in which objects are asked for. */
export type Representation = 'object' | 'table' | 'metadata';

/** Accepted is one media type that a client takes. */
export interface Accepted {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** YAML is the media type of answers in YAML. */
export const YAML = 'application/yaml';
/** What answers can be written in, and what clients of protobuf are told: they take JSON too. */
const WRITTEN = ['application/json', YAML, 'application/vnd.kubernetes.protobuf'];
/** The same for watches: nobody writes YAML in pieces. */
const STREAMED = WRITTEN.filter((type) => type !== YAML).map((type) => `${type};stream=watch`);
const JSON_TYPES = ['application/json', 'application/*', '*/*'];

/**
 * representationOf finds the form that a client wants most among those we have. Tables and metadata come in version v1 of
 * their group alone; a client that takes nothing else is told what there is.
 */
export function representationOf(
  accept: string | undefined,
  forms: readonly Representation[],
  isStream = false,
): Representation {
  if (accept === undefined || accept.trim() === '') return 'object';
  let isKnown = false;
  for (const { type, parameters } of parseAccept(accept)) {
    if (type !== YAML && !JSON_TYPES.includes(type)) continue;
    isKnown = true;
    if (type === YAML && isStream) continue;
    const form = formOf(parameters);
    if (form && forms.includes(form)) return form;
  }
  const written = isStream ? STREAMED : WRITTEN;
  throw isKnown ? notAcceptable(written) : nothingAcceptable(WRITTEN);
}

/** prefersYaml says whether a client wants YAML more than JSON. */
export function prefersYaml(accept: string | undefined): boolean {
  // Nearly nobody does, and every request is asked.
  if (!accept?.includes('yaml')) return false;
  return parseAccept(accept).find(({ type }) => type === YAML || JSON_TYPES.includes(type))?.type === YAML;
}

function formOf(parameters: ReadonlyMap<string, string>): Representation | undefined {
  const as = parameters.get('as');
  if (as === undefined) return 'object';
  if (parameters.get('g') !== 'meta.k8s.io' || parameters.get('v') !== 'v1') return undefined;
  if (as === 'Table') return 'table';
  return as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList' ? 'metadata' : undefined;
}

/** parseAccept reads an Accept header in the order of the client's wishes. */
export function parseAccept(header: string): Accepted[] {
  return header
    .split(',')
    .map((part) => {
      const [type = '', ...rest] = part.split(';').map((piece) => piece.trim());
      const parameters = new Map(
        rest.map((pair): [string, string] => {
          const equals = pair.indexOf('=');
          return equals < 0 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)];
        }),
      );
      return { type: type.toLowerCase(), parameters };
    })
    .sort((a, b) => weightOf(b) - weightOf(a));
}

function weightOf({ parameters }: Accepted): number {
  const weight = Number(parameters.get('q') ?? 1);
  return Number.isFinite(weight) ? weight : 0;
}
