import { ConfigMap, keyOf, keyString, type ObjectKey } from '@bowline/kubernetes';
import { BowlineError, type Clock, isObject, type JsonObject, systemClock } from '@bowline/machinery';
import type { Client } from '@bowline/runtime/client';
import type { CommandCluster } from '@bowline/runtime/manager';
import { s } from '@bowline/runtime/resource';
import { HSMDevice } from '../api/hsm-device.ts';
import { API_PREFIX } from '../http-api/api-call.ts';
import { API_CONFIG_MAP, type ApiLocation } from '../http-api/api-location.ts';
import { httpsRequest } from './https-request.ts';

const NAME = '[a-z0-9]([-a-z0-9.]*[a-z0-9])?';

/** apiOptions are the options of every command that calls the API. */
export const apiOptions = {
  device: s
    .string()
    .maxLength(317)
    .pattern(`^(${NAME}/)?${NAME}$`)
    .describe('The HSMDevice, as namespace/name, or its name if no other has it. Defaults to the only one.')
    .optional(),
  serviceAccount: s
    .string()
    .maxLength(317)
    .pattern(`^${NAME}/${NAME}$`)
    .describe(
      'The ServiceAccount to call the API with, as namespace/name. Defaults to the one that the install created for it.',
    )
    .optional(),
  apiUrl: s
    .string()
    .maxLength(1024)
    .pattern('^https://[^/?#@\\s]+/?$')
    .describe('Where the API is reached. Defaults to what the manager has published.')
    .optional(),
};

/** ApiSettings are the values of `apiOptions`. */
export interface ApiSettings {
  readonly device?: string | undefined;
  readonly serviceAccount?: string | undefined;
  readonly apiUrl?: string | undefined;
}

/** ApiRequest is a request to the API. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below `/api/v1/`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>> | undefined;
  readonly body?: JsonObject | undefined;
}

/** PARTIAL is the status of a response if only some of the devices did what was requested. */
export const PARTIAL = 206;

/** ApiResponse is the successful response to a request. */
export interface ApiResponse {
  readonly status: number;
  readonly message: string;
  readonly data: JsonObject;
}

/** ApiClient calls the API. */
export interface ApiClient {
  /** call rejects with an ApiRefusal if the API refuses the request. */
  call(request: ApiRequest): Promise<ApiResponse>;
}

/** ApiRefusal is an error that the API returned. */
export class ApiRefusal extends BowlineError {
  readonly status: number;
  readonly apiCode: string;

  constructor(status: number, apiCode: string, message: string) {
    super('BOWLINE_HSM_API_REFUSED', message);
    this.status = status;
    this.apiCode = apiCode;
  }
}

/** Enough for a command. */
const TOKEN_SECONDS = 600;
/** A new leader is elected within about this many attempts, a second apart. */
const MAX_ATTEMPTS = 20;

/** connectApi finds the API, and returns a client with a token of the ServiceAccount. */
export async function connectApi(
  { client, managerNamespace }: CommandCluster,
  settings: ApiSettings,
  signal: AbortSignal,
  clock: Pick<Clock, 'sleep'> = systemClock,
): Promise<ApiClient> {
  const location = locationIn(
    await client.find(ConfigMap, { namespace: managerNamespace, name: API_CONFIG_MAP }, { signal }),
    managerNamespace,
  );
  const account = accountOf(settings.serviceAccount) ?? { namespace: managerNamespace, name: location.serviceAccount };
  const { token } = await client.requestToken(account, {
    audiences: [location.audience],
    expirationSeconds: TOKEN_SECONDS,
    signal,
  });
  const device = await deviceOf(client, settings.device, signal);
  const base = settings.apiUrl ?? location.url;
  const send = async (request: ApiRequest): Promise<ApiResponse | ApiRefusal> => {
    const url = new URL(`${API_PREFIX}${request.path}`, base);
    const query = { device, ...request.query };
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
    const { method, body } = request;
    const options = { method, token, body, ca: location['ca.crt'], serverName: location.serverName, signal };
    const response = await httpsRequest(url, options).catch((cause: unknown) => {
      signal.throwIfAborted();
      throw unreachable(base, location, managerNamespace, cause);
    });
    return responseOf(response.status, response.text);
  };
  return {
    async call(request) {
      for (let attempt = 1; ; attempt++) {
        const response = await send(request);
        if (!(response instanceof ApiRefusal)) return response;
        if (response.apiCode !== 'not_leader' || attempt >= MAX_ATTEMPTS) throw response;
        await clock.sleep(1_000, signal);
      }
    },
  };
}

/** deviceOf returns the `namespace/name` of an HSMDevice that is given by its name, with the permissions of the user. */
async function deviceOf(client: Client, given: string | undefined, signal: AbortSignal): Promise<string | undefined> {
  if (given === undefined || given.includes('/')) return given;
  const { items } = await client.list(HSMDevice, {
    fieldSelector: `metadata.name=${given}`,
    metadataOnly: true,
    signal,
  });
  const [only, ...others] = items;
  const found = items.map((each) => keyString(keyOf(each))).join(', ');
  if (only && others.length === 0) return found;
  throw new BowlineError(
    'BOWLINE_ARGUMENT_INVALID',
    only
      ? `several HSMDevices have the name ${given}: ${found}; pass one of them as --device`
      : `there is no HSMDevice with the name ${given}; kubectl get hsmdevices -A lists them`,
  );
}

function accountOf(text: string | undefined): ObjectKey | undefined {
  const [namespace = '', name = ''] = text?.split('/') ?? [];
  return text === undefined ? undefined : { namespace, name };
}

function locationIn(configMap: ConfigMap | undefined, namespace: string): ApiLocation {
  const key = keyString({ namespace, name: API_CONFIG_MAP });
  const { data } = configMap ?? {};
  if (!data)
    throw new BowlineError(
      'BOWLINE_HSM_API_ABSENT',
      `the API is not served: the ConfigMap ${key} does not exist; set api.enabled for the operator, or name the namespace of its manager with --namespace`,
    );
  const { url, serverName, audience, service = '', serviceAccount } = data;
  if (!url || !serverName || !audience || !serviceAccount || !data['ca.crt'])
    throw new BowlineError(
      'BOWLINE_HSM_API_ABSENT',
      `the ConfigMap ${key} is not complete; delete it and restart the manager, which writes it again`,
    );
  return { url, serverName, audience, service, serviceAccount, 'ca.crt': data['ca.crt'] };
}

/** The address in the ConfigMap is that of a Service, which is often reachable only from within the cluster. */
function unreachable(base: string, { service, url }: ApiLocation, namespace: string, cause: unknown): BowlineError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'the connection failed';
  const port = new URL(url).port || '443';
  const remedy = url.includes('.svc')
    ? `forward its port with "kubectl port-forward -n ${namespace} service/${service} ${port}" and pass --api-url https://127.0.0.1:${port}`
    : 'check that the manager runs, or name another address with --api-url';
  return new BowlineError('BOWLINE_HSM_API_UNREACHABLE', `cannot call the API at ${base} (${code}); ${remedy}`, {
    cause,
    retryable: true,
  });
}

function responseOf(status: number, text: string): ApiResponse | ApiRefusal {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = undefined;
  }
  if (!isObject(parsed) || typeof parsed.success !== 'boolean')
    throw new BowlineError(
      'BOWLINE_HSM_API_UNREACHABLE',
      `the response with HTTP status ${status} is not from the API; check --api-url`,
    );
  const { success, data, error } = parsed;
  const message = String(parsed.message);
  if (success) return { status, message, data: isObject(data) ? data : {} };
  return new ApiRefusal(status, isObject(error) ? String(error.code) : '', message);
}
