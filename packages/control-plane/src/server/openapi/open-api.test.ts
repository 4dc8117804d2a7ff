import { describe, expect, test } from 'vitest';
import { customResources } from '../custom-resources/custom-resources.ts';
import { boxes } from '../custom-resources/custom-server.test-support.ts';
import { definitionOf } from '../custom-resources/definition-rules.ts';
import { apiGroups } from '../discovery/documents.ts';
import type { ApiResponse } from '../http/api-request.ts';
import { requestInfo } from '../http/request-info.ts';
import { builtInResources } from '../registry/built-in-resources.ts';
import { Registry } from '../registry/registry.ts';
import type { OpenApiDocument } from './descriptions.ts';
import { groupVersionDocument } from './group-version-document.ts';
import { type OpenApiOptions, openApiRoutes } from './open-api-routes.ts';

interface Document {
  readonly paths: Readonly<Record<string, Record<string, Record<string, unknown>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Record<string, unknown>>> };
}

type Schemas = NonNullable<OpenApiDocument['definitions']>;

const BOXES = customResources(definitionOf(boxes({ size: { type: 'integer', description: 'How large' } })), {
  revision: 1,
  isTerminating: () => false,
});

function served(): Registry {
  const registry = new Registry();
  registry.set(...builtInResources(), ...BOXES);
  return registry;
}

function requester(registry: Registry, openApiDocuments?: OpenApiOptions['openApiDocuments']) {
  const routes = openApiRoutes({ registry, openApiDocuments });
  return async (url: string, headers: Readonly<Record<string, string>> = {}): Promise<ApiResponse | undefined> => {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const request = {
      method: 'GET',
      url,
      headers,
      body: () => Promise.resolve(new Uint8Array()),
      signal: new AbortController().signal,
      connection: { remoteAddress: '', isSecure: true },
    };
    const info = requestInfo('GET', pathname, searchParams);
    for (const route of routes) {
      const response = await route(info, request, searchParams);
      if (response) return response;
    }
    return undefined;
  };
}

function pathsIn(response: ApiResponse | undefined): Record<string, { readonly serverRelativeURL: string }> {
  return (JSON.parse(String(response?.body)) as { paths: Record<string, { serverRelativeURL: string }> }).paths;
}

describe('documents', () => {
  const versions = apiGroups([...builtInResources(), ...BOXES]).flatMap(({ name, versions: list }) =>
    list.map(({ version, resources }) => [`${name}/${version}`, resources] as const),
  );

  test.each(versions)('of %s contain every definition that they refer to', (_, resources) => {
    const document = groupVersionDocument(resources) as Document;
    const names = new Set(Object.keys(document.components.schemas));
    const referred = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)];
    expect(referred.length).toBeGreaterThan(0);
    expect(referred.map(([, name]) => name ?? '').filter((name) => !names.has(name))).toEqual([]);
  });

  test('let kubectl find kinds, their patch types and server-side field validation', () => {
    const core = versions.find(([name]) => name === '/v1')?.[1] ?? [];
    const { components, paths } = groupVersionDocument(core) as Document;
    expect(components.schemas['io.k8s.api.core.v1.Pod']).toMatchObject({
      'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind: 'Pod' }],
    });
    expect(components.schemas['io.k8s.api.core.v1.PodSpec']).toMatchObject({
      properties: {
        containers: {
          'x-kubernetes-patch-merge-key': 'name',
          'x-kubernetes-patch-strategy': 'merge',
          items: { $ref: '#/components/schemas/io.k8s.api.core.v1.Container' },
        },
      },
    });
    expect(paths['/api/v1/namespaces/{namespace}/pods/{name}']?.patch).toMatchObject({
      'x-kubernetes-action': 'patch',
      parameters: expect.arrayContaining([expect.objectContaining({ name: 'fieldValidation' })]) as unknown,
    });
  });

  test('describe custom resources by their schema and the common object fields', () => {
    const { components } = groupVersionDocument(BOXES) as Document;
    expect(components.schemas['test.example.v1.Box']?.properties).toMatchObject({
      spec: { properties: { size: { type: 'integer', description: 'How large' } } },
      metadata: { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' },
    });
  });
});

describe('routes', () => {
  test('lead from the root to an immutable document', async () => {
    const send = requester(served());
    const { serverRelativeURL = '' } = pathsIn(await send('/openapi/v3'))['apis/example.test/v1'] ?? {};
    const found = await send(serverRelativeURL);
    expect([found?.status, found?.headers['cache-control']]).toEqual([200, 'public, immutable']);
    const again = await send(serverRelativeURL, { 'if-none-match': String(found?.headers.etag) });
    expect([again?.status, again?.body]).toEqual([304, '']);
  });

  test('redirect an outdated document URL to the current one', async () => {
    const send = requester(served());
    const { serverRelativeURL } = pathsIn(await send('/openapi/v3'))['apis/apps/v1'] ?? {};
    const moved = await send('/openapi/v3/apis/apps/v1?hash=OLD');
    expect([moved?.status, moved?.headers.location]).toEqual([301, serverRelativeURL]);
  });

  test('change the URL of a group whose schema changed, and no other', async () => {
    const registry = served();
    const send = requester(registry);
    const before = pathsIn(await send('/openapi/v3'));
    registry.set(
      ...customResources(definitionOf(boxes({ other: { type: 'string' } })), {
        revision: 1,
        isTerminating: () => false,
      }),
    );
    const after = pathsIn(await send('/openapi/v3'));
    const changed = Object.keys(after).filter(
      (name) => after[name]?.serverRelativeURL !== before[name]?.serverRelativeURL,
    );
    expect(changed).toEqual(['apis/example.test/v1']);
  });

  test('contain descriptions of custom resources only, unless documents are given', async () => {
    const send = requester(served());
    const { components } = JSON.parse(String((await send('/openapi/v3/apis/example.test/v1'))?.body)) as Document;
    expect(components.schemas['test.example.v1.Box']).toMatchObject({
      properties: { spec: { properties: { size: { description: 'How large' } } } },
    });
    const core = JSON.parse(String((await send('/openapi/v3/api/v1'))?.body)) as Document;
    expect(JSON.stringify(core.components)).not.toContain('"description":"');
  });

  test.each([
    ['v2', (schemas: Schemas) => ({ definitions: schemas })],
    ['v3', (schemas: Schemas) => ({ components: { schemas } })],
  ] as const)(
    'take descriptions of built-in kinds and fields from a given document of OpenAPI %s',
    async (_, document) => {
      const schemas = {
        'io.k8s.api.core.v1.ConfigMap': {
          description: 'Settings.',
          properties: { data: { description: 'The values.' }, metadata: { description: 'Who it is.' }, other: {} },
        },
      };
      const send = requester(served(), () => Promise.resolve([document(schemas)]));
      const core = JSON.parse(String((await send('/openapi/v3/api/v1'))?.body)) as Document;
      const meta = { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' };
      expect(core.components.schemas['io.k8s.api.core.v1.ConfigMap']).toMatchObject({
        description: 'Settings.',
        properties: {
          data: { type: 'object', description: 'The values.' },
          metadata: { description: 'Who it is.', allOf: [meta] },
        },
      });
      const boxes = JSON.parse(String((await send('/openapi/v3/apis/example.test/v1'))?.body)) as Document;
      expect(boxes.components.schemas['test.example.v1.Box']).toMatchObject({
        properties: { metadata: { description: 'Who it is.', allOf: [meta] } },
      });
    },
  );

  test('load given documents once, and again after a failure', async () => {
    let loads = 0;
    const send = requester(served(), () => {
      loads++;
      return loads === 1 ? Promise.reject(new Error('no file')) : Promise.resolve([]);
    });
    await expect(send('/openapi/v3/api/v1')).rejects.toThrow('no file');
    await send('/openapi/v3/api/v1');
    await send('/openapi/v3/apis/apps/v1');
    expect(loads).toBe(2);
  });

  test('return an empty document in version 2 and not found for missing groups', async () => {
    const send = requester(served());
    const old = JSON.parse(String((await send('/openapi/v2'))?.body)) as object;
    expect(old).toMatchObject({ swagger: '2.0', paths: {}, definitions: {} });
    expect(await send('/openapi/v3/apis/nobody.test/v1')).toBeUndefined();
  });
});
