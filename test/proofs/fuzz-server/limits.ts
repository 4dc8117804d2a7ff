import { WIDGETS } from '../../support/sample-objects.ts';
import type { FuzzedServer, Way } from './fuzzed-server.ts';

const MIB = 1024 * 1024;
const MAPS = '/api/v1/namespaces/fuzz-0/configmaps';
const DRY = `${MAPS}?dryRun=All`;

function map(more: object): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'limit' }, ...more });
}

/** An unknown field of the given size is dropped, so that only the size of the body matters. */
function bodyOf(bytes: number): string {
  const text = map({ unknown: '' });
  return text.replace('"unknown":""', `"unknown":"${'x'.repeat(bytes - text.length)}"`);
}

/** Limits, and the real API server's response to a request just within or beyond them. */
const LIMITS: readonly (readonly [what: string, expected: number, ...ask: Parameters<FuzzedServer['sendAsAdmin']>])[] =
  [
    ['a body of 3 MiB', 201, 'POST', DRY, bodyOf(3 * MIB)],
    ['a body of 3 MiB and one byte', 413, 'POST', DRY, bodyOf(3 * MIB + 1)],
    ['a body of 12 MiB', 413, 'POST', DRY, bodyOf(12 * MIB)],
    ['a path of 40 kB', 200, 'GET', `/version?unknown=${'x'.repeat(40_000)}`],
    ['values of 1 MiB', 201, 'POST', DRY, map({ data: { a: 'x'.repeat(MIB) } })],
    ['values of more', 422, 'POST', DRY, map({ data: { a: 'x'.repeat(MIB + 1) } })],
    [
      'annotations of 256 KiB',
      201,
      'POST',
      DRY,
      map({ metadata: { name: 'limit', annotations: { a: 'x'.repeat(MIB / 4 - 1) } } }),
    ],
    [
      'annotations of more',
      422,
      'POST',
      DRY,
      map({ metadata: { name: 'limit', annotations: { a: 'x'.repeat(MIB / 4) } } }),
    ],
    ['a name of 253', 201, 'POST', DRY, map({ metadata: { name: 'x'.repeat(253) } })],
    ['a name of 254', 422, 'POST', DRY, map({ metadata: { name: 'x'.repeat(254) } })],
    ['a label of 63', 201, 'POST', DRY, map({ metadata: { name: 'limit', labels: { a: 'x'.repeat(63) } } })],
    ['a label of 64', 422, 'POST', DRY, map({ metadata: { name: 'limit', labels: { a: 'x'.repeat(64) } } })],
    ['a manager of 128', 201, 'POST', `${DRY}&fieldManager=${'x'.repeat(128)}`, map({})],
    ['a manager of 129', 422, 'POST', `${DRY}&fieldManager=${'x'.repeat(129)}`, map({})],
    [
      'JSON 20,000 deep',
      400,
      'POST',
      DRY,
      map({}).replace('{', `{"unknown":${'['.repeat(20_000)}${']'.repeat(20_000)},`),
    ],
    [
      '10,001 operations',
      413,
      'PATCH',
      `/api/v1/namespaces/default/configmaps/kube-root-ca.crt`,
      Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'ConfigMap' })),
      'application/json-patch+json',
    ],
    [
      'a schema that is nested 100 deep',
      201,
      'POST',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All',
      deepDefinition(100),
    ],
  ];

function deepDefinition(depth: number): unknown {
  let spec: unknown = { type: 'string' };
  for (let level = 0; level < depth; level++) spec = { type: 'object', properties: { a: spec } };
  const [version] = WIDGETS.spec.versions;
  return {
    ...WIDGETS,
    metadata: { name: 'deeps.proof.bowline.dev' },
    spec: {
      ...WIDGETS.spec,
      names: { plural: 'deeps', kind: 'Deep' },
      versions: [
        {
          name: version.name,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        },
      ],
    },
  };
}

const WAYS: readonly Way[] = ['in process', 'HTTP/1.1', 'HTTP/2'];

/** limitProblems tries every limit over every way. */
export async function limitProblems(server: FuzzedServer): Promise<string[]> {
  const problems: string[] = [];
  for (const way of WAYS) {
    for (const [what, expected, ...ask] of LIMITS) {
      try {
        const { status, text } = await server.requestOver(way, ...ask);
        if (status !== expected)
          problems.push(`${what}, ${way}, returns ${status} instead of ${expected}: ${text.slice(0, 200)}`);
      } catch (error) {
        problems.push(`${what}, ${way}, gets no response: ${String(error)}`);
      }
    }
  }
  return problems;
}
