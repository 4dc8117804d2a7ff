import { type Clock, type Random, systemClock, systemRandom } from '@bowline/machinery';
import { Admission, type AdmissionPlugin } from './admission/admission.ts';
import type { AuditDetails, AuditTrail } from './audit/audit-trail.ts';
import type { Authenticator } from './authentication/create-authenticator.ts';
import type { Authorizer } from './authorization/authorizer.ts';
import { impersonated } from './authorization/impersonation.ts';
import { refusal } from './authorization/refusal.ts';
import type { FieldTracking } from './fields/field-tracking.ts';
import { bodyFormats } from './handlers/body-formats.ts';
import type { RequestContext, ServerParts } from './handlers/context.ts';
import { type KubeletRequester, requestKubeletOverHttps } from './handlers/kubelet-client.ts';
import { serveResource } from './handlers/serve-resource.ts';
import type { ApiRequest, ApiResponse, Route } from './http/api-request.ts';
import { prefersYaml, YAML } from './http/negotiate.ts';
import { readUrl, requestInfo } from './http/request-info.ts';
import { warningHeaders } from './http/warning-headers.ts';
import { Registry } from './registry/registry.ts';
import { internalError, noSuchResource, StatusError, unauthorized } from './status/api-status.ts';
import { Storage } from './storage/storage.ts';

/** ApiServerOptions holds the parts of a server. */
export interface ApiServerOptions {
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly fields: FieldTracking;
  readonly strategicMerge: ServerParts['strategicMerge'];
  readonly admission: readonly AdmissionPlugin[];
  readonly routes: readonly Route[];
  readonly registry?: Registry | undefined;
  readonly storage?: Storage | undefined;
  /** Records every request. Defaults to none. */
  readonly audit?: AuditTrail | undefined;
  /** Fetches container logs from nodes. Defaults to HTTPS, accepting any certificate of a kubelet. */
  readonly requestKubelet?: KubeletRequester | undefined;
  /** Defaults to the clock of the machine. */
  readonly clock?: Clock | undefined;
  /** Defaults to the system's random source. */
  readonly random?: Random | undefined;
  /** Receives errors that are bugs: their text is not sent to clients. */
  readonly onError?: ((error: unknown, request: ApiRequest) => void) | undefined;
}

/** ApiServer handles requests as kube-apiserver does. */
export interface ApiServer {
  readonly registry: Registry;
  readonly storage: Storage;
  /** handle never rejects: errors become responses. */
  handle(request: ApiRequest): Promise<ApiResponse>;
}

const PAGE_NOT_FOUND: ApiResponse = {
  status: 404,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: '404 page not found\n',
};

const BAD_REQUEST: ApiResponse = { ...PAGE_NOT_FOUND, status: 400, body: '400 Bad Request' };

/** createApiServer assembles the parts of a server. It does not listen by itself: see `listen`. */
export function createApiServer(options: ApiServerOptions): ApiServer {
  const { authenticator, authorizer, routes, audit, onError } = options;
  const clock = options.clock ?? systemClock;
  const parts: ServerParts = {
    storage: options.storage ?? new Storage({ clock }),
    registry: options.registry ?? new Registry(),
    admission: new Admission(options.admission),
    authorizer,
    fields: options.fields,
    strategicMerge: options.strategicMerge,
    requestKubelet: options.requestKubelet ?? requestKubeletOverHttps,
    clock,
    random: options.random ?? systemRandom,
  };

  const respond = async (request: ApiRequest, warnings: string[], audited: AuditDetails): Promise<ApiResponse> => {
    const url = readUrl(request.url);
    if (!url) return BAD_REQUEST;
    const { path, query } = url;
    const info = requestInfo(request.method, path, query);
    audited.info = info;
    const caller = await authenticator.authenticate(request);
    if (!caller) throw unauthorized();
    audited.caller = caller;
    const user = impersonated(request, caller, authorizer);
    audited.user = user;
    const decision = authorizer.authorize(user, info);
    if (!decision.allowed) throw refusal(user, info, decision.reason);
    if (!info.isResource) {
      for (const route of routes) {
        const response = await route(info, request, query);
        if (response) return response;
      }
      if (path.startsWith('/api/')) throw noSuchResource();
      return PAGE_NOT_FOUND;
    }
    const resource = parts.registry.find(info.group, info.version, info.resource);
    if (!resource) {
      if (!parts.registry.hasBuiltIn(info.group)) return PAGE_NOT_FOUND;
      throw noSuchResource();
    }
    if (resource.deprecation) warnings.push(resource.deprecation);
    const context: RequestContext = { ...parts, request, info, query, user, resource, warnings, audited };
    return serveResource(context, bodyFormats(context));
  };

  return {
    registry: parts.registry,
    storage: parts.storage,
    async handle(request) {
      const warnings: string[] = [];
      const audited: AuditDetails = {};
      const recorded = audit?.begin(request, audited) ?? ((response: ApiResponse) => response);
      const format = async (response: ApiResponse): Promise<ApiResponse> =>
        prefersYaml(request.headers.accept) ? inYaml(request, response) : response;
      try {
        return recorded(withWarnings(await format(await respond(request, warnings, audited)), warnings));
      } catch (error) {
        if (error instanceof StatusError)
          return recorded(withWarnings(await format(statusResponse(error)), warnings), error);
        onError?.(error, request);
        const failure = internalError('the embedded control plane failed to handle the request; see its log');
        return recorded(statusResponse(failure), failure);
      }
    },
  };
}

/** statusResponse returns the response for an error. */
export function statusResponse(error: StatusError): ApiResponse {
  const retry = error.details?.retryAfterSeconds;
  return {
    status: error.code,
    headers: { 'content-type': 'application/json', ...(retry === undefined ? {} : { 'retry-after': String(retry) }) },
    body: JSON.stringify(error.toStatus()),
  };
}

/**
 * inYaml converts a JSON response to YAML for paths that serve objects and kinds; responses about the server itself
 * stay JSON.
 */
async function inYaml({ url }: ApiRequest, response: ApiResponse): Promise<ApiResponse> {
  const { headers, body } = response;
  if (!/^\/apis?(?:[/?]|$)/.test(url) || headers['content-type'] !== 'application/json' || typeof body !== 'string')
    return response;
  // Few clients ask for YAML, and its library is large.
  const { yamlText } = await import('./printing/yaml-text.ts');
  return { ...response, headers: { ...headers, 'content-type': YAML }, body: yamlText(body) };
}

/** withWarnings adds warnings for the client as headers, which kubectl prints. */
function withWarnings(response: ApiResponse, warnings: readonly string[]): ApiResponse {
  if (warnings.length === 0) return response;
  const warning = warningHeaders(warnings);
  return warning.length === 0 ? response : { ...response, headers: { ...response.headers, warning } };
}
