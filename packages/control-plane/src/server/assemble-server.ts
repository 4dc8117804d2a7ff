import { type Clock, type Random, strategicMerge } from '@bowline/machinery';
import { createAccessControl } from './access-control.ts';
import { createAdmission } from './admission/create-admission.ts';
import type { ServiceResolver } from './admission/webhooks/service-address.ts';
import { type ApiServer, createApiServer } from './api-server.ts';
import type { AuditTrail } from './audit/audit-trail.ts';
import type { StaticToken } from './authentication/static-tokens.ts';
import { ensureBootstrapObjects } from './bootstrap-objects.ts';
import { serveCustomResources } from './custom-resources/serve-custom-resources.ts';
import { discoveryRoutes } from './discovery/discovery-routes.ts';
import { expireEvents } from './expire-events.ts';
import { trackFields } from './fields/track-fields.ts';
import type { ApiRequest } from './http/api-request.ts';
import { type OpenApiOptions, openApiRoutes } from './openapi/open-api-routes.ts';
import { builtInResources } from './registry/built-in-resources.ts';
import { Registry } from './registry/registry.ts';
import type { Storage } from './storage/storage.ts';

/** AssembleOptions holds what differs between embedded servers. */
export interface AssembleOptions {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Random;
  /** The private key, in PEM, that signs ServiceAccount tokens. */
  readonly tokenKey: string;
  /** Tokens that stay valid as long as the server runs. */
  readonly tokens: readonly StaticToken[];
  /** url returns the address of the server. */
  readonly url: () => string;
  readonly audit?: AuditTrail | undefined;
  /**
   * Resolves the Services of webhooks to addresses. Defaults to none: only Services with an external name are
   * reachable.
   */
  readonly resolveService?: ServiceResolver | undefined;
  /**
   * Loads the OpenAPI documents whose descriptions are served. Defaults to none: schemas are served without
   * descriptions.
   */
  readonly openApiDocuments?: OpenApiOptions['openApiDocuments'];
  /** Receives errors that are bugs. */
  readonly onError: (error: unknown, request?: ApiRequest) => void;
}

/** AssembledServer is a complete API server. Disposing of it stops its background updates; its storage remains. */
export interface AssembledServer extends ApiServer, Disposable {}

/** assembleServer creates an API server from all parts and writes the bootstrap objects of every cluster. */
export async function assembleServer(options: AssembleOptions): Promise<AssembledServer> {
  const { storage, clock, random, onError } = options;
  const registry = new Registry();
  registry.set(...builtInResources());
  const fields = trackFields(registry);
  const access = createAccessControl({ ...options, registry, fields });
  const customResources = await serveCustomResources({ ...options, registry, fields });
  const admission = createAdmission({ ...options, registry, fields, authorizer: access.authorizer });
  const server = createApiServer({
    ...access,
    // The escalation check judges the object as it will be stored, so it runs last.
    admission: [...admission.plugins, access.admission],
    routes: [
      access.route,
      ...discoveryRoutes({ registry, url: options.url }),
      ...openApiRoutes({ ...options, registry }),
    ],
    fields,
    strategicMerge,
    registry,
    storage,
    clock,
    random,
    audit: options.audit,
    onError,
  });
  await ensureBootstrapObjects(server);
  const expiry = expireEvents(options);
  return {
    ...server,
    [Symbol.dispose]() {
      expiry[Symbol.dispose]();
      customResources[Symbol.dispose]();
      admission[Symbol.dispose]();
      access[Symbol.dispose]();
    },
  };
}
