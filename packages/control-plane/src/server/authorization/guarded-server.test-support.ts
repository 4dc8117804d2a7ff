import { generateKeyPairSync } from 'node:crypto';
import { type Clock, systemRandom, VirtualClock } from '@bowline/machinery';
import { type AccessControl, createAccessControl } from '../access-control.ts';
import { createAdmission } from '../admission/create-admission.ts';
import type { ServiceResolver } from '../admission/webhooks/service-address.ts';
import { type ApiServer, createApiServer } from '../api-server.ts';
import type { AuditEvent } from '../audit/audit-event.ts';
import { AuditTrail } from '../audit/audit-trail.ts';
import { trackFields } from '../fields/track-fields.ts';
import { builtInResources } from '../registry/built-in-resources.ts';
import { Registry } from '../registry/registry.ts';
import { Storage } from '../storage/storage.ts';

/** Requester identifies the user of a request: by certificate, by token, or anonymous. */
export type Requester =
  | { readonly user: string; readonly groups?: readonly string[] }
  | { readonly token: string }
  | undefined;

/** GuardedResponse is a response: its status code and its body. */
export interface GuardedResponse {
  readonly code: number;
  readonly body: Record<string, unknown> & { readonly message?: string; readonly metadata?: Record<string, unknown> };
}

/** SendRequest sends a request; headers may occur twice. */
export type SendRequest = (
  who: Requester,
  method: string,
  url: string,
  body?: unknown,
  headers?: readonly (readonly [string, string])[],
) => Promise<GuardedResponse>;

/** GuardedOptions configures a server. */
export interface GuardedOptions {
  /** The stored objects to start with. Defaults to none. */
  readonly storage?: Storage | undefined;
  /** Whether writes pass all admission plugins, not only the escalation check. Defaults to false. */
  readonly admits?: boolean | undefined;
  /** Resolves the Services of webhooks. Defaults to none. */
  readonly resolveService?: ServiceResolver | undefined;
  /** Defaults to a virtual clock. */
  readonly clock?: Clock | undefined;
}

/** GuardedServer is a server in the same process, with authentication and authorization. */
export interface GuardedServer extends Disposable {
  readonly server: ApiServer;
  readonly access: AccessControl;
  readonly clock: VirtualClock;
  readonly send: SendRequest;
  /** The recorded audit events, in order. */
  readonly audited: readonly AuditEvent[];
}

/** ADMIN may do everything. */
export const ADMIN: Requester = { user: 'admin', groups: ['system:masters'] };

/** A key is slow to generate, and all tests can share one. */
let key: string | undefined;

/** startGuardedServer starts a server with the built-in kinds. */
export function startGuardedServer(options: GuardedOptions = {}): GuardedServer {
  const virtual = new VirtualClock();
  const clock = options.clock ?? virtual;
  const registry = new Registry();
  registry.set(...builtInResources());
  const fields = trackFields(registry);
  const kept = options.storage ?? new Storage({ clock });
  key ??= generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
  const fail = (error: unknown): never => {
    throw error;
  };
  const access = createAccessControl({
    storage: kept,
    registry,
    fields,
    clock,
    tokenKey: key,
    url: () => 'https://here',
    onError: fail,
  });
  const { authorizer } = access;
  const { resolveService } = options;
  const audited: AuditEvent[] = [];
  const admission = createAdmission({
    storage: kept,
    registry,
    authorizer,
    fields,
    clock,
    random: systemRandom,
    resolveService,
    onError: fail,
  });
  const server = createApiServer({
    authenticator: access.authenticator,
    authorizer,
    admission: [...(options.admits ? admission.plugins : []), access.admission],
    routes: [access.route],
    fields,
    strategicMerge: (document) => document,
    registry,
    storage: kept,
    clock,
    audit: new AuditTrail({ clock, write: (event) => audited.push(event), onError: fail }),
    onError: fail,
  });
  return {
    server,
    audited,
    access,
    clock: virtual,
    async send(who, method, url, body, headers = []) {
      const lines = [
        ['content-type', 'application/json'] as const,
        ...headers.map(([name, value]) => [name.toLowerCase(), value] as const),
      ];
      if (who && 'token' in who) lines.push(['authorization', `Bearer ${who.token}`]);
      const certificate = who && 'user' in who ? { commonName: who.user, organizations: who.groups ?? [] } : undefined;
      const response = await server.handle({
        method,
        url,
        headers: Object.fromEntries(lines),
        headerLines: () => lines,
        body: () => Promise.resolve(Buffer.from(body === undefined ? '' : JSON.stringify(body))),
        signal: new AbortController().signal,
        connection: { remoteAddress: '', isSecure: true, certificate },
      });
      return { code: response.status, body: JSON.parse(String(response.body)) as GuardedResponse['body'] };
    },
    [Symbol.dispose]() {
      admission[Symbol.dispose]();
      access[Symbol.dispose]();
    },
  };
}
