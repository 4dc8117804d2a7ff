import { cluster } from '@bowline/control-plane/testing';
import { ConfigMap, CustomResourceDefinition } from '@bowline/kubernetes';
import { s } from '@bowline/machinery/schema';
import { expect, it } from 'vitest';
import { controller } from '../controller/builder.ts';
import { defineResource } from '../resource/define-resource.ts';
import { installDependencies } from './install-dependencies.ts';
import { defineOperator } from './operator.ts';

const routeIn = (version: string, spec: ReturnType<typeof s.object>) =>
  defineResource({ group: 'dependencies.test.bowline.dev', version, kind: 'Route', scope: 'Namespaced', spec });

const using = (dependency: ReturnType<typeof routeIn>) =>
  defineOperator({
    name: 'routes',
    domain: 'example.com',
    controllers: [controller(ConfigMap).reconcile(() => {})],
    dependencies: [dependency],
  });

it('creates a missing definition, and leaves an existing one as it is', async () => {
  await using c = await cluster({ isolation: 'control-plane' });
  const Route = routeIn('v1', s.object({ host: s.string() }));
  const name = 'routes.dependencies.test.bowline.dev';
  const install = async (resource: typeof Route) => {
    const [installed] = await installDependencies(c.admin, using(resource));
    return [installed?.name, installed?.outcome, installed?.isServed];
  };
  expect(await install(Route)).toEqual([name, 'created', true]);
  // Served: otherwise this request would fail.
  await c.admin.list(Route, { namespace: c.namespace });
  const { metadata } = await c.admin.get(CustomResourceDefinition, { name });
  expect(await install(routeIn('v1', s.object({ other: s.string() })))).toEqual([name, 'existing', true]);
  expect(await install(routeIn('v2', s.object({})))).toEqual([name, 'existing', false]);
  const after = await c.admin.get(CustomResourceDefinition, { name });
  expect(after.metadata?.generation).toBe(metadata?.generation);
});

it('is created once by concurrent installs', async () => {
  await using c = await cluster({ isolation: 'control-plane' });
  const operator = using(routeIn('v1', s.object({})));
  const results = await Promise.all([installDependencies(c.admin, operator), installDependencies(c.admin, operator)]);
  expect(
    results
      .flat()
      .map(({ outcome }) => outcome)
      .sort(),
  ).toEqual(['created', 'existing']);
});
