import { notAcceptable, nothingAcceptable } from '../status/api-status.ts';

/** Representation is the form in which objects are requested. */
export type Representation = 'object' | 'table' | 'metadata';

/** AcceptedMediaType is one media type that a client accepts. */
export interface AcceptedMediaType {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** YAML is the media type of responses in YAML. */
export const YAML = 'application/yaml';
/** The formats of responses, as reported to clients. Protobuf is listed because its clients also accept JSON. */
const RESPONSE_TYPES = ['application/json', YAML, 'application/vnd.kubernetes.protobuf'];
/** The same for watches: YAML is not streamed. */
const STREAM_TYPES = RESPONSE_TYPES.filter((type) => type !== YAML).map((type) => `${type};stream=watch`);
const JSON_TYPES = ['application/json', 'application/*', '*/*'];

/**
 * representationOf returns the form that a client prefers among the supported ones. Tables and metadata exist only in
 * version v1 of their group; a client that accepts nothing else receives an error with the supported formats.
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
  const written = isStream ? STREAM_TYPES : RESPONSE_TYPES;
  throw isKnown ? notAcceptable(written) : nothingAcceptable(RESPONSE_TYPES);
}

/** prefersYaml reports whether a client prefers YAML to JSON. */
export function prefersYaml(accept: string | undefined): boolean {
  // Few clients do, and this runs for every request.
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

/** parseAccept parses an Accept header, sorted by the client's preference. */
export function parseAccept(header: string): AcceptedMediaType[] {
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

function weightOf({ parameters }: AcceptedMediaType): number {
  const weight = Number(parameters.get('q') ?? 1);
  return Number.isFinite(weight) ? weight : 0;
}
