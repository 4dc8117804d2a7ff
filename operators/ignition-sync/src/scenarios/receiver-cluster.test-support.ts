import { once } from 'node:events';
import { request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { type Cluster, cluster, type OperatorsOptions, type RunningOperators } from '@bowline/control-plane/testing';
import { Namespace, Secret, ServiceAccount, ValidatingWebhookConfiguration } from '@bowline/kubernetes';
import { VirtualClock } from '@bowline/machinery';
import { allow, controller, defineOperator, type Operator } from '@bowline/runtime';
import { authorReview } from '@bowline/runtime/access';
import type { Client } from '@bowline/runtime/client';
import { Manager } from '@bowline/runtime/manager';
import { vi } from 'vitest';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { CR_ANNOTATIONS, OPERATOR } from '../api/names.ts';
import { minimal, type Spec } from '../api/specs.test-support.ts';
import { config } from '../config.ts';
import { HMAC, signed } from '../receiver/receiver.test-support.ts';
import { receiverEnvironment } from '../receiver/receiver-environment.ts';
import { type ReceiverDeps, receiverPermissions, receiverService } from '../receiver/receiver-service.ts';

/** SYNC is the name of the IgnitionSync. */
export const SYNC = 'plant';

const authors = authorReview(IgnitionSync, { operator: OPERATOR });

/** receiverOperator returns an operator that receives webhooks and syncs nothing. */
export function receiverOperator(environment: Readonly<Record<string, string>> = {}): Operator {
  return defineOperator({
    ...OPERATOR,
    resources: [IgnitionSync],
    config,
    setup: ({ config: settings, namespace, namespaces, clock, log, metrics }): ReceiverDeps => ({
      config: settings,
      receiverEnvironment: receiverEnvironment(environment),
      ownNamespace: namespace,
      namespaces,
      clock,
      log,
      metrics,
    }),
    controllers: [
      controller(IgnitionSync)
        .watches(ValidatingWebhookConfiguration, { ...authors.configuration, map: () => [] })
        .watches(Namespace, { view: 'metadata', clusterWideOnly: true, map: () => [] })
        .reconcile(() => {}),
    ],
    permissions: (settings) => [...receiverPermissions(settings), allow(['get'], Secret)],
    services: [receiverService(authors)],
  });
}

/** Reply is a response of the receiver. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** Sent configures a request. */
export interface Sent {
  readonly method?: string;
  /** Defaults to the path of the IgnitionSync. */
  readonly path?: string;
  /** Signed with it. Defaults to HMAC. Null: not signed. */
  readonly secret?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Defaults to the leader's. */
  readonly port?: number;
}

/** ReceiverCluster is a cluster whose manager receives webhooks for one IgnitionSync. */
export interface ReceiverCluster extends Cluster, RunningOperators {
  readonly clock: VirtualClock;
  readonly key: { readonly namespace: string; readonly name: string };
  /** The account of the operator, as in the audit log. */
  readonly username: string;
  send(body: unknown, sent?: Sent): Promise<Reply>;
  /** annotations returns the requests that are recorded about the IgnitionSync. */
  annotations(): Promise<Readonly<Record<string, string>>>;
  /** standby starts another replica and returns its port when it is ready. */
  standby(): Promise<number>;
}

/** ReceiverClusterOptions configures the receiver. */
export interface ReceiverClusterOptions extends Pick<OperatorsOptions, 'wrapClient' | 'log'> {
  readonly config?: object;
  readonly environment?: Readonly<Record<string, string>>;
  readonly spec?: Partial<Spec>;
}

/** receiverCluster starts an operator that receives webhooks, and creates an IgnitionSync. */
export async function receiverCluster(options: ReceiverClusterOptions = {}): Promise<ReceiverCluster> {
  const { environment = { WEBHOOK_HMAC_SECRET: HMAC }, wrapClient = (client: Client) => client, log } = options;
  const clock = new VirtualClock();
  const operator = receiverOperator(environment);
  const [port = 0, standbyPort = 0] = [await freePort(), await freePort()];
  const settings = (own: number) => ({
    [OPERATOR.name]: {
      webhookReceiverPort: own,
      webhookReceiverHost: '127.0.0.1',
      trustAllAuthors: true,
      ...options.config,
    },
  });
  let client: Client | undefined;
  const c = await cluster({
    operators: [operator],
    clock,
    ...(log ? { log } : {}),
    config: settings(port),
    wrapClient: (given) => {
      client = wrapClient(given);
      return client;
    },
  });
  const key = { namespace: c.namespace, name: SYNC };
  await c.admin.create(IgnitionSync, { metadata: key, spec: minimal(options.spec) });
  const { items } = await c.admin.list(ServiceAccount, { namespace: c.managerNamespace });
  const account = items.map(({ metadata }) => metadata?.name ?? '').find((name) => name !== 'default') ?? '';
  const path = `/webhook/${c.namespace}/${SYNC}`;
  const own: Omit<ReceiverCluster, keyof (Cluster & RunningOperators)> = {
    clock,
    key,
    username: `system:serviceaccount:${c.managerNamespace}:${account}`,
    send: (body, sent = {}) => send(body, { path, port, ...sent }),
    annotations: async () => (await c.admin.get(IgnitionSync, key)).metadata?.annotations ?? {},
    standby: async () => {
      const manager = new Manager({
        operators: [operator],
        clientFor: () => client as Client,
        installNameFor: () => account,
        namespace: c.managerNamespace,
        clock,
        config: settings(standbyPort),
        healthAddress: '0',
        metricsAddress: '0',
        leaderElection: { identity: 'standby' },
      });
      const stop = new AbortController();
      const running = manager.run(stop.signal);
      c.onDispose(async () => {
        stop.abort();
        await running;
      });
      await untilListening(manager);
      if (manager.status()[0]?.state !== 'standby') throw new Error('the second replica leads');
      return standbyPort;
    },
  };
  const all = Object.defineProperties({ ...c, ...own }, Object.getOwnPropertyDescriptors(c));
  await untilListening(c.manager);
  return all;
}

async function untilListening(manager: Manager): Promise<void> {
  await vi.waitFor(
    () => {
      if (manager.status()[0]?.services[0]?.port === undefined) throw new Error('the receiver does not listen');
    },
    { timeout: 30_000, interval: 20 },
  );
}

/** untilKnown waits until the receiver has seen the IgnitionSync: until then a global credential gets 404. */
export async function untilKnown(c: ReceiverCluster, sent: Sent = {}): Promise<void> {
  await vi.waitFor(
    async () => {
      const { status } = await c.send(
        { zen: 'x' },
        { ...sent, headers: { 'x-github-event': 'ping', ...sent.headers } },
      );
      if (status !== 200) throw new Error(`the receiver answers ${status}`);
    },
    { timeout: 20_000, interval: 20 },
  );
}

/** requested returns the annotations that request a ref. */
export function requested(ref: string, by: string, at: string): Readonly<Record<string, string>> {
  return {
    [CR_ANNOTATIONS.requestedRef]: ref,
    [CR_ANNOTATIONS.requestedBy]: by,
    [CR_ANNOTATIONS.requestedAt]: at,
  };
}

function send(body: unknown, { method = 'POST', path, secret = HMAC, headers = {}, port }: Sent): Promise<Reply> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const signature = secret === null ? {} : { 'x-hub-signature-256': `sha256=${signed(text, secret)}` };
  const all = { 'content-length': String(Buffer.byteLength(text)), ...signature, ...headers };
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers: all, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const received = Buffer.concat(chunks).toString();
        const parsed: unknown = received === '' ? undefined : JSON.parse(received);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: parsed });
      });
    });
    sent.on('error', reject);
    sent.end(method === 'GET' ? undefined : text);
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
