import { ConfigMap } from '@bowline/kubernetes';
import { s } from '@bowline/machinery/schema';
import { expect, it } from 'vitest';
import { controller } from '../controller/builder.ts';
import { defineResource } from '../resource/define-resource.ts';
import { permissionsOf } from './declared-permissions.ts';
import { defineOperator } from './operator.ts';

const Route = defineResource({
  group: 'routes.example.com',
  version: 'v1',
  kind: 'Route',
  scope: 'Namespaced',
  spec: s.object({ host: s.string() }),
});
const options = {
  name: 'x',
  domain: 'example.com',
  controllers: [controller(ConfigMap).reconcile(() => {})],
  dependencies: [Route],
};
const sample = {
  apiVersion: 'routes.example.com/v1',
  kind: 'Route',
  metadata: { name: 'a', namespace: 'b' },
  spec: {},
};

it('dependencies grant no permissions', () => {
  const { dependencies: _, ...without } = options;
  expect(permissionsOf(defineOperator(options))).toEqual(permissionsOf(defineOperator(without)));
});

it('defineOperator refuses a kind that is both its own and a dependency, and an invalid sample of a dependency', () => {
  expect(() => defineOperator({ ...options, resources: [Route] })).toThrow(
    'the kind name "Route.v1.routes.example.com"',
  );
  expect(() => defineOperator({ ...options, samples: [sample] })).toThrow('spec.host');
});
