import { operatorIdentity } from '@bowline/runtime/install';
import { ztwim } from '@bowline/ztwim';
import { MANAGER_NAMESPACE, type ZtwimScene } from './scene.ts';

/** OperatorRequest is a request of the operator, from the audit log. */
export interface OperatorRequest {
  readonly verb: string;
  readonly resource: string;
  readonly subresource: string | undefined;
  readonly name: string | undefined;
  readonly isDryRun: boolean;
  /** For messages: the verb and the path. */
  readonly text: string;
}

const account = `system:serviceaccount:${MANAGER_NAMESPACE}:${operatorIdentity(ztwim).objectName}`;
/** What every manager requests, whatever its operator does. */
const ofManager = new Set(['leases', 'selfsubjectaccessreviews']);
const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** requestsSince returns the successful requests of the operator since a time in milliseconds, but those for its Lease. */
export async function requestsSince({ cluster }: ZtwimScene, since: number): Promise<readonly OperatorRequest[]> {
  const events = await cluster.audit(since);
  return events.flatMap(({ user, verb, requestURI, objectRef = {}, responseStatus, requestReceivedTimestamp }) => {
    const { resource = '', subresource, name } = objectRef;
    if (user.username !== account || ofManager.has(resource)) return [];
    // A watch is recorded when it ends, too.
    if (Date.parse(requestReceivedTimestamp) < since || (responseStatus?.code ?? 0) >= 400) return [];
    const isDryRun = requestURI.includes('dryRun=');
    return [{ verb, resource, subresource, name, isDryRun, text: `${verb} ${requestURI}` }];
  });
}

/** isWrite returns whether a request changes an object. */
export function isWrite({ verb, isDryRun }: OperatorRequest): boolean {
  return WRITES.has(verb) && !isDryRun;
}

/** isSingleRead returns whether a request reads one object. */
export function isSingleRead({ verb, name }: OperatorRequest): boolean {
  return verb === 'get' && name !== undefined;
}

/** mostPerObject returns the largest number of these requests for one object. */
export function mostPerObject(requests: readonly OperatorRequest[]): number {
  const counts = new Map<string, number>();
  for (const { resource, name } of requests) {
    const key = `${resource}/${name}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return Math.max(0, ...counts.values());
}
