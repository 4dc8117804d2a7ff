/**
 * Step is one request. Texts may contain NS for the case's namespace, OWN for the prefix of its cluster-scoped names, and
 * `{{0.metadata.uid}}` for a value from the same server's response to an earlier step.
 */
export interface Step {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The number of lines to read from a stream. Defaults to reading to the end. */
  readonly lines?: number;
  /**
   * Whether the step is repeated until both responses agree, for at most 5 s: the real server applies some objects, such as
   * admission policies, with a delay.
   */
  readonly repeats?: boolean;
  /**
   * A field of both responses and the value to wait for, such as `['status.phase', 'Bound']`: the step is repeated until
   * controllers have written it and both responses agree, for at most 15 s.
   */
  readonly awaits?: readonly [path: string, value: unknown];
}

/** Case is a sequence of requests. */
export interface Case {
  readonly name: string;
  readonly steps: readonly Step[];
  /**
   * Whether the case is about what controllers, the scheduler and nodes do. Defaults to false: then nothing changes an
   * object between two requests.
   */
  readonly hasControllers?: boolean;
}

export const MERGE = { 'content-type': 'application/merge-patch+json' };
export const JSON_PATCH = { 'content-type': 'application/json-patch+json' };
export const STRATEGIC = { 'content-type': 'application/strategic-merge-patch+json' };
export const APPLY = { 'content-type': 'application/apply-patch+yaml' };
export const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
export const METADATA = { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' };
export const METADATA_LIST = { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' };
export const AGGREGATED = { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' };

type Headers = Readonly<Record<string, string>>;

export function get(path: string, headers: Headers = {}): Step {
  return { method: 'GET', path, headers };
}

export function watch(path: string, lines: number, headers: Headers = {}): Step {
  return { method: 'GET', path, headers, lines };
}

export function post(path: string, body: unknown, headers: Headers = {}): Step {
  return { method: 'POST', path, body, headers };
}

export function put(path: string, body: unknown, headers: Headers = {}): Step {
  return { method: 'PUT', path, body, headers };
}

export function patch(path: string, body: unknown, headers: Headers): Step {
  return { method: 'PATCH', path, body, headers };
}

/** apply returns a server-side apply with a field manager. */
export function apply(path: string, body: unknown, manager = 'me', more = ''): Step {
  return patch(`${path}?fieldManager=${manager}${more}`, body, APPLY);
}

/** repeated returns a step that is repeated until both responses agree. */
export function repeated(step: Step): Step {
  return { ...step, repeats: true };
}

/** awaiting returns a request that is repeated until a field of both responses has a value. */
export function awaiting(path: string, field: string, value: unknown, headers: Headers = {}): Step {
  return { ...get(path, headers), awaits: [field, value] };
}

export function remove(path: string, body?: unknown): Step {
  return { method: 'DELETE', path, body };
}
