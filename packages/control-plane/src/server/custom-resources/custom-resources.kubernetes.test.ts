import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { connect, connectionFrom, parseKubeconfig } from '@bowline/runtime/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitFor } from '../../testing/wait-for.ts';
import { DEFINITIONS, startCustomServer } from './custom-server.test-support.ts';
import { BROKEN, definition, OWN_MESSAGES } from './definition-cases.test-support.ts';
import { GADGETS, type ObjectStep, STEPS } from './object-steps.test-support.ts';

/** ServerResponse is the response of a server, without values that differ between servers, and with problems in a fixed order. */
interface ServerResponse {
  readonly code: number;
  readonly warnings: readonly string[];
  readonly body: unknown;
}

type Send = (
  method: ObjectStep['method'],
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>>,
) => Promise<ServerResponse>;

const UNLIKE = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'lastTransitionTime',
  'time',
  'description',
]);

let c: Cluster;
let real: Send;
let ours: Send;
let group: string;

beforeAll(async () => {
  c = await cluster({ prefix: 'custom' });
  group = `${c.uniqueName('custom')}.example.test`;
  real = await sendToReal();
  ours = await sendToOurs();
  await ours('POST', '/api/v1/namespaces', { metadata: { name: c.namespace } }, {});
});
afterAll(() => c[Symbol.asyncDispose]());

describe('definitions', () => {
  test.each(BROKEN)('with $what are validated as by the real server', async (broken) => {
    const { real: expected, ours: own } = await both('POST', `${DEFINITIONS}?dryRun=All`, definition(broken));
    if (OWN_MESSAGES.has(broken.what)) expect(expected.code).toBe(422);
    else expect(own).toEqual(expected);
  });
});

test('Custom resources are decoded, defaulted and validated as by the real server', async () => {
  const created = await both('POST', DEFINITIONS, GADGETS);
  expect(created.ours).toEqual(created.real);
  c.onDispose(() => real('DELETE', `${DEFINITIONS}/gadgets.${group}`, undefined, {}));
  await waitFor('the definition to be established', async () => {
    const { body } = await real('GET', `${DEFINITIONS}/gadgets.${group}`, undefined, {});
    return JSON.stringify(body).includes('"reason":"InitialNamesAccepted"');
  });
  await waitFor('the objects to be served', async () => {
    const { code } = await real('GET', `/apis/${group}/v1/namespaces/${c.namespace}/gadgets`, undefined, {});
    return code === 200;
  });
  const established = await both('GET', `${DEFINITIONS}/gadgets.GROUP`, undefined);
  expect(established.ours).toEqual(established.real);
  for (const { what, method, path, body, type = 'application/json', accept = 'application/json' } of STEPS) {
    const responses = await both(method, `/apis/GROUP/${path}`, body, { 'content-type': type, accept });
    expect([what, responses.ours]).toEqual([what, responses.real]);
  }
});

async function both(
  method: ObjectStep['method'],
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly real: ServerResponse; readonly ours: ServerResponse }> {
  const filled = <T>(value: T): T =>
    value === undefined
      ? value
      : (JSON.parse(JSON.stringify(value).replaceAll('GROUP', group).replaceAll('NS', c.namespace)) as T);
  const request = [method, filled(path), filled(body), { 'user-agent': 'test', ...headers }] as const;
  return { real: await real(...request), ours: await ours(...request) };
}

async function sendToReal(): Promise<Send> {
  const kubeconfig = await c.kubeconfig('admin');
  const connection = connectionFrom(await parseKubeconfig(JSON.stringify(kubeconfig), kubeconfig['current-context']));
  const transport = connect(connection);
  c.onDispose(() => transport.close());
  return async (method, path, body, headers) => {
    const response = await transport.request({
      method,
      path,
      lane: 'call',
      headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return responseOf(response.status, response.headers.warning ?? '', await response.text());
  };
}

async function sendToOurs(): Promise<Send> {
  const server = await startCustomServer();
  c.onDispose(async () => server[Symbol.dispose]());
  return async (method, path, body, headers) => {
    const response = await server.call(method, path, body, headers);
    const isText = response.headers['content-type'] !== 'application/json';
    const text = isText ? (response.body.message ?? '') : JSON.stringify(response.body);
    return responseOf(response.status, [response.headers.warning ?? []].flat().join(', '), text);
  };
}

function responseOf(code: number, warning: string, text: string): ServerResponse {
  const body = text.startsWith('{')
    ? (JSON.parse(text, (name, value: unknown) => {
        if (UNLIKE.has(name)) return undefined;
        // They are sorted by time, which may or may not be the same second.
        if (name !== 'managedFields' || !Array.isArray(value)) return value;
        const nameOf = ({ manager, operation, subresource }: Record<string, unknown>): string =>
          `${String(manager)} ${String(operation)} ${String(subresource)}`;
        return value.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
      }) as Record<string, unknown>)
    : text;
  const warnings = warning.split(/,\s*(?=299 )/).sort();
  if (typeof body === 'string' || !Array.isArray((body.details as { causes?: unknown } | undefined)?.causes))
    return { code, warnings, body };
  // The real server reports field problems in any order, and the message repeats them.
  const details = body.details as { causes: object[] };
  const causes = details.causes.map((cause) => JSON.stringify(cause)).sort();
  return {
    code,
    warnings,
    body: { ...body, message: String(body.message).split(':')[0], details: { ...details, causes } },
  };
}
