import { randomUUID } from 'node:crypto';
import type { Clock } from '@bowline/machinery';
import type { UserInfo } from '../authentication/user-info.ts';
import type { ApiRequest, ApiResponse } from '../http/api-request.ts';
import type { RequestInfo } from '../http/request-info.ts';
import type { StatusError } from '../status/api-status.ts';
import type { AuditEvent, AuditUser } from './audit-event.ts';

/** AuditTrailOptions says where requests are recorded. */
export interface AuditTrailOptions {
  readonly clock: Clock;
  /** write keeps an event; it is kept when this returns. Requests are answered whether or not it throws. */
  readonly write: (event: AuditEvent) => void;
  /** Told when events begin to get lost. */
  readonly onError: (error: unknown) => void;
}

/** Audited is a request on its way into the trail; whoever learns something of it writes it down here. */
export interface Audited {
  info?: RequestInfo | undefined;
  caller?: UserInfo | undefined;
  /** Who the request is for, where that is not the caller. */
  user?: UserInfo | undefined;
  /** The name in the body, where the path has none. */
  name?: string | undefined;
  /** What admission says of it. */
  annotations?: Readonly<Record<string, string>> | undefined;
}

/** The control plane's own reads are most of the traffic, and nobody asks about them. */
const OWN_USERS: ReadonlySet<string> = new Set([
  'system:apiserver',
  'system:kube-controller-manager',
  'system:kube-scheduler',
]);
const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch']);
const HEALTH = /^\/(readyz|livez|healthz)/;

/**
 * AuditTrail records who did what to which object, as the real server does at level Metadata: neither bodies nor
 * credentials are ever in it.
 */
export class AuditTrail {
  readonly #options: AuditTrailOptions;
  #isFailing = false;

  constructor(options: AuditTrailOptions) {
    this.#options = options;
  }

  /** begin notes when a request came; the answer goes through what it returns, which records it. */
  begin(request: ApiRequest, audited: Audited): (response: ApiResponse, refusal?: StatusError) => ApiResponse {
    const received = timestamp(this.#options.clock.now());
    return (response, refusal) => {
      if (!isRecorded(audited)) return response;
      const common = { auditID: randomUUID(), ...described(request, audited) };
      const status = { code: response.status, reason: refusal?.reason, message: refusal?.message };
      const record = (stage: AuditEvent['stage']): void => {
        this.#write({
          level: 'Metadata',
          stage,
          ...common,
          responseStatus: status,
          ...(audited.annotations ? { annotations: audited.annotations } : {}),
          requestReceivedTimestamp: received,
          stageTimestamp: timestamp(this.#options.clock.now()),
        });
      };
      const { body } = response;
      if (typeof body === 'string' || body instanceof Uint8Array) {
        record('ResponseComplete');
        return response;
      }
      record('ResponseStarted');
      return { ...response, body: untilOver(body, () => record('ResponseComplete')) };
    };
  }

  #write(event: AuditEvent): void {
    try {
      this.#options.write(event);
      this.#isFailing = false;
    } catch (error) {
      // A full disk fails every request's; to say it once is enough until it is over.
      if (!this.#isFailing) this.#options.onError(error);
      this.#isFailing = true;
    }
  }
}

function isRecorded({ info, caller }: Audited): boolean {
  if (!info) return false;
  if (!info.isResource && HEALTH.test(info.path)) return false;
  return !(caller && OWN_USERS.has(caller.username) && READS.has(info.verb));
}

/** Described is what is the same at every stage of a request. */
type Described = Pick<
  AuditEvent,
  'verb' | 'requestURI' | 'user' | 'impersonatedUser' | 'userAgent' | 'sourceIPs' | 'objectRef'
>;

function described(request: ApiRequest, { info, caller, user, name }: Audited): Described {
  const described: Described = {
    verb: info?.verb ?? request.method.toLowerCase(),
    requestURI: request.url,
    user: auditUser(caller),
    ...(user && user !== caller ? { impersonatedUser: auditUser(user) } : {}),
    userAgent: request.headers['user-agent'],
    sourceIPs: [request.connection.remoteAddress],
  };
  if (!info?.isResource) return described;
  const { resource, subresource, namespace, group, version } = info;
  const objectRef = {
    resource,
    namespace: namespace || undefined,
    name: info.name || name,
    apiGroup: group || undefined,
    apiVersion: version,
    subresource: subresource || undefined,
  };
  return { ...described, objectRef };
}

function auditUser(user: UserInfo | undefined): AuditUser {
  if (!user) return {};
  const { username, uid, groups, extra } = user;
  return { username, uid, groups, extra };
}

async function* untilOver(body: AsyncIterable<string>, over: () => void): AsyncGenerator<string> {
  try {
    yield* body;
  } finally {
    over();
  }
}

/** timestamp is a time with the six digits that the real server writes. */
function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}000Z`;
}
