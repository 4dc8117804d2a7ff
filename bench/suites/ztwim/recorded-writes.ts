import type { RawRequest } from '../../support/raw-request.ts';

/** RecordedWrites are requests of the operator, which the bare programs repeat. */
export interface RecordedWrites {
  /** The requests that create the objects of all operands, one for each. */
  readonly children: readonly RawRequest[];
  /** The writes of a change of the cluster name, up to the last ConfigMap and template, in order. */
  readonly cascade: readonly RawRequest[];
}

/** WrittenObject is the part of a written object that the harness reads. */
interface WrittenObject {
  readonly kind: string;
  readonly metadata?: WrittenMetadata;
}

interface WrittenMetadata {
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly { readonly kind: string; readonly uid: string }[];
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** writesChild returns whether a request writes an object of an operand, and not only validates it. */
export function writesChild({ path, body }: RawRequest): boolean {
  const { metadata } = parse(body);
  return !path.includes('dryRun=') && metadata?.labels?.['app.kubernetes.io/managed-by'] === 'bowline-ztwim';
}

/** keyOf returns the kind and the name of the object that a request writes. */
export function keyOf({ path, body }: RawRequest): string {
  const { kind, metadata } = parse(body);
  return `${kind}/${metadata?.name ?? objectPath(path).split('/').at(-1)}`;
}

/** collectionPath returns the path of the objects of the kind that a request writes. */
export function collectionPath({ method, path }: RawRequest): string {
  const whole = objectPath(path);
  return method === 'POST' ? whole : whole.slice(0, whole.lastIndexOf('/'));
}

function objectPath(path: string): string {
  return path.split('?')[0] ?? '';
}

/** asCreate returns the request that creates the same object without server-side apply, which is the cheapest way. */
export function asCreate(request: RawRequest, uids: ReadonlyMap<string, string>): RawRequest {
  const path = `${collectionPath(request)}?fieldManager=bowline-bench`;
  return { method: 'POST', path, contentType: 'application/json', body: forAnyState(request.body, uids) };
}

/** asRepeated returns the same request for objects that have been recreated since. */
export function asRepeated(request: RawRequest, uids: ReadonlyMap<string, string>): RawRequest {
  return { ...request, body: forAnyState(request.body, uids) };
}

/** forAnyState removes the preconditions of a body, and names the current owners: the garbage collector deletes the objects of others. */
function forAnyState(body: string, uids: ReadonlyMap<string, string>): string {
  const object = parse(body);
  const { uid: _uid, resourceVersion: _version, ownerReferences, ...metadata } = object.metadata ?? {};
  const owners = ownerReferences?.map((owner) => ({ ...owner, uid: uids.get(owner.kind) ?? owner.uid }));
  return JSON.stringify({
    ...object,
    metadata: owners === undefined ? metadata : { ...metadata, ownerReferences: owners },
  });
}

function parse(body: string): WrittenObject {
  return JSON.parse(body) as WrittenObject;
}
