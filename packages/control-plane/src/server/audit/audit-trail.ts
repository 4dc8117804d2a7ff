import { randomUUID } from 'node:crypto';
import type { Clock } from '@bowline/machinery';
import type { UserInfo } from '../authentication/user-info.ts';
import type { ApiRequest, ApiResponse } from '../http/api-request.ts';
import type { RequestInfo } from '../http/request-info.ts';
import type { StatusError } from '../status/api-status.ts';
import type { AuditEvent, AuditUser } from './audit-event.ts';

/** AuditTrailOptions configures where requests are recorded. */
export interface AuditTrailOptions {
  readonly clock: Clock;
  /** write stores an event; the event is durable when it returns. Requests are answered even if it throws. */
  readonly write: (event: AuditEvent) => void;
  /** Called when events start to be lost. */
  readonly onError: (error: unknown) => void;
}

/** AuditDetails collects what the audit event of a request reports; each stage of the request sets what it knows. */
export interface AuditDetails {
  info?: RequestInfo | undefined;
  caller?: UserInfo | undefined;
  /** The impersonated user, if any. */
  user?: UserInfo | undefined;
  /** The name in the body, if the path has none. */
  name?: string | undefined;
  /** Annotations added by admission. */
  annotations?: Readonly<Record<string, string>> | undefined;
}

/** Reads by the control plane itself are most of the traffic and of no interest. */
const OWN_USERS: ReadonlySet<string> = new Set([
  'system:apiserver',
  'system:kube-controller-manager',
  'system:kube-scheduler',
]);
const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch']);
const HEALTH = /^\/(readyz|livez|healthz)/;

/**
 * AuditTrail records who did what to which object, as the real server does at level Metadata: it never contains bodies
 * or credentials.
 */
export class AuditTrail {
  readonly #options: AuditTrailOptions;
  #isFailing = false;

  constructor(options: AuditTrailOptions) {
    this.#options = options;
  }

  /** begin records when a request arrived; the returned function takes the response, records it and returns it. */
  begin(request: ApiRequest, audited: AuditDetails): (response: ApiResponse, refusal?: StatusError) => ApiResponse {
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
      return { ...response, body: withCompletion(body, () => record('ResponseComplete')) };
    };
  }

  #write(event: AuditEvent): void {
    try {
      this.#options.write(event);
      this.#isFailing = false;
    } catch (error) {
      // A full disk fails the write of every event; reporting it once is enough until writes succeed again.
      if (!this.#isFailing) this.#options.onError(error);
      this.#isFailing = true;
    }
  }
}

function isRecorded({ info, caller }: AuditDetails): boolean {
  if (!info) return false;
  if (!info.isResource && HEALTH.test(info.path)) return false;
  return !(caller && OWN_USERS.has(caller.username) && READS.has(info.verb));
}

/** Described holds the fields that are the same at every stage of a request. */
type Described = Pick<
  AuditEvent,
  'verb' | 'requestURI' | 'user' | 'impersonatedUser' | 'userAgent' | 'sourceIPs' | 'objectRef'
>;

function described(request: ApiRequest, { info, caller, user, name }: AuditDetails): Described {
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

async function* withCompletion(body: AsyncIterable<string>, over: () => void): AsyncGenerator<string> {
  try {
    yield* body;
  } finally {
    over();
  }
}

/** timestamp formats a time with six decimal places, as the real server does. */
function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}000Z`;
}
