import { notAcceptable, nothingAcceptable } from '../status/api-status.ts';

/** Representation is the form in which objects are asked for. */
export type Representation = 'object' | 'table' | 'metadata';

/** Accepted is one media type that a client takes. */
export interface Accepted {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** JSON is the one format that answers are written in; clients of protobuf take it too. */
const WRITTEN = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

/**
 * representationOf finds the form that a client wants most among those we have. Tables and metadata come in version v1 of
 * their group alone; a client that takes nothing else is told what there is.
 */
export function representationOf(accept: string | undefined, forms: readonly Representation[]): Representation {
  if (accept === undefined || accept.trim() === '') return 'object';
  let isJson = false;
  for (const { type, parameters } of parseAccept(accept)) {
    if (!['application/json', 'application/*', '*/*'].includes(type)) continue;
    isJson = true;
    const form = formOf(parameters);
    if (form && forms.includes(form)) return form;
  }
  throw isJson ? notAcceptable(WRITTEN) : nothingAcceptable(WRITTEN);
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
