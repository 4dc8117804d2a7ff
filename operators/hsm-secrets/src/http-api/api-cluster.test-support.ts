import { request } from 'node:https';
import type { TestServiceAccount } from '@bowline/control-plane/testing';
import { ConfigMap, type PolicyRule } from '@bowline/kubernetes';
import { vi } from 'vitest';
import { GROUP } from '../api/names.ts';
import type { HsmClusterOptions } from '../testing/hsm-cluster.test-support.ts';
import { type SecretsCluster, secretsCluster } from '../testing/secrets-cluster.test-support.ts';
import { AUDIENCE } from './api-call.ts';
import { API_CONFIG_MAP } from './api-location.ts';

/** ApiReply is a response as a test compares it. */
export interface ApiReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test compares parts of it.
  readonly json: any;
}

/** ApiSend configures a request of a test. */
export interface ApiSend {
  readonly token?: string | undefined;
  /** Sent as JSON; a text is sent as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** ApiCluster is a test cluster whose manager serves the API. */
export interface ApiCluster extends SecretsCluster {
  readonly location: Readonly<Record<string, string>>;
  /** account creates a ServiceAccount that may do something with the HSMDevices of the test's namespace. */
  account(
    verbs: Readonly<Record<string, readonly string[]>>,
    more?: readonly PolicyRule[],
  ): Promise<TestServiceAccount>;
  /** tokenOf requests a token for the API. */
  tokenOf(account: TestServiceAccount, audience?: string): Promise<string>;
  /** send calls the API. */
  send(method: string, path: string, options?: ApiSend): Promise<ApiReply>;
}

/** ALL allows everything with secrets, the PIN and mirrors. */
export const ALL = {
  hsmdevices: ['get'],
  'hsmdevices/secrets': ['list', 'get', 'create', 'update', 'delete'],
  'hsmdevices/pin': ['update'],
  'hsmdevices/mirror': ['update'],
} as const;

/** PIN_SECRET is the name of the Secret with the PIN. */
export const PIN_SECRET = 'pico-pin';

/** apiCluster starts the operator with the API, an HSMDevice with two devices, and mirroring between them. */
export async function apiCluster(options: HsmClusterOptions = {}): Promise<ApiCluster> {
  const { config, ...rig } = options;
  const c = await secretsCluster({
    nodes: 2,
    ...rig,
    config: { ...config, api: { enabled: true, address: '127.0.0.1:0' } },
    spec: {
      mirroring: { policy: 'Active' },
      pkcs11: { libraryPath: '/usr/lib/token.so', pinSecret: { name: PIN_SECRET, key: 'pin' } },
    },
  });
  const key = { namespace: c.managerNamespace, name: API_CONFIG_MAP };
  const location = await vi.waitFor(
    async () => {
      // A replica that wants to write its CA before it leads tries again later.
      await c.clock.advance(1_000);
      const { data } = await c.admin.get(ConfigMap, key);
      return data ?? {};
    },
    { timeout: 20_000, interval: 250 },
  );
  const own: Omit<ApiCluster, keyof SecretsCluster> = {
    location,
    account: (verbs, more = []) =>
      c.serviceAccount({
        rules: [
          ...Object.entries(verbs).map(([resource, each]) => ({
            apiGroups: [GROUP],
            resources: [resource],
            verbs: each,
          })),
          ...more,
        ],
      }),
    async tokenOf({ namespace, name }, audience = AUDIENCE) {
      const { token } = await c.admin.requestToken({ namespace, name }, { audiences: [audience] });
      return token;
    },
    send: (method, path, given = {}) => sendTo(location, method, path, given),
  };
  return Object.defineProperties({ ...c, ...own }, Object.getOwnPropertyDescriptors(c));
}

/** sendTo sends a request to the API at a location. */
export function sendTo(
  location: Readonly<Record<string, string>>,
  method: string,
  path: string,
  { token, body, headers = {} }: ApiSend,
): Promise<ApiReply> {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const sent = request(
      new URL(`/api/v1/${path}`, location.url),
      {
        method,
        ca: location['ca.crt'],
        servername: location.serverName,
        agent: false,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(text === undefined ? {} : { 'content-length': Buffer.byteLength(text) }),
          ...headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const received = Buffer.concat(chunks).toString('utf8');
          const { statusCode: status = 0 } = response;
          resolve({
            status,
            headers: response.headers,
            text: received,
            json: received === '' ? undefined : JSON.parse(received),
          });
        });
      },
    );
    sent.on('error', reject);
    sent.end(text);
  });
}

/** inBase64 returns values as the API expects them. */
export function inBase64(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
}
