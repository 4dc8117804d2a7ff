import { SERVER_VERSION } from '../discovery/version-route.ts';
import type { ApiResource } from '../registry/api-resource.ts';
import type { Definitions } from './definitions.ts';
import { describe, NO_DESCRIPTIONS } from './descriptions.ts';
import { addKind } from './kind-definitions.ts';
import { addPaths, type Paths } from './paths.ts';

/** groupVersionDocument describes one version of a group: its kinds, their schemas, and their paths. */
export function groupVersionDocument(resources: readonly ApiResource[], descriptions = NO_DESCRIPTIONS): object {
  const definitions: Definitions = new Map();
  const paths: Paths = {};
  for (const resource of resources)
    addPaths(paths, definitions, resource, addKind(definitions, resource, descriptions));
  describe(definitions, descriptions);
  const schemas = Object.fromEntries([...definitions].sort(([a], [b]) => (a < b ? -1 : 1)));
  return { openapi: '3.0.0', info: { title: 'Kubernetes', version: SERVER_VERSION }, paths, components: { schemas } };
}
