import { trackFields } from '../fields/track-fields.ts';
import { startTestServer, type TestServer } from '../in-process.test-support.ts';
import { serveCustomResources } from './serve-custom-resources.ts';

/** DEFINITIONS is the path of CustomResourceDefinitions. */
export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** startCustomServer starts a server in the same process that serves custom resources. Its clock does not advance. */
export async function startCustomServer(): Promise<TestServer & Disposable> {
  const server = startTestServer();
  const { registry, storage } = server.server;
  const serving = await serveCustomResources({
    registry,
    storage,
    fields: trackFields(registry),
    clock: server.clock,
    onError: (error) => {
      throw error;
    },
  });
  return { ...server, [Symbol.dispose]: () => serving[Symbol.dispose]() };
}

/** boxes returns a definition of one kind with a schema for its spec, merged with what a test adds. */
export function boxes(spec: object = {}, more: object = {}, version: object = {}): Record<string, unknown> {
  const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', properties: spec } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'boxes.example.test' },
    spec: {
      group: 'example.test',
      scope: 'Namespaced',
      names: { plural: 'boxes', kind: 'Box' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema }, ...version }],
      ...more,
    },
  };
}

/** box returns an object of that kind. */
export function box(name: string, spec: object = {}, metadata: object = {}): object {
  return { apiVersion: 'example.test/v1', kind: 'Box', metadata: { name, ...metadata }, spec };
}
