import { ConfigMap, Node, Secret, ServiceAccount } from '@bowline/kubernetes';
import { s } from '@bowline/machinery/schema';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { controller, keyed } from '../controller/builder.ts';
import { allow, OWN_NAMESPACE } from '../permissions/permission.ts';
import { admit } from '../webhook/admission-response.ts';
import { validating } from '../webhook/declare.ts';
import { companion } from './companion.ts';
import { companionManifests } from './companion-manifests.ts';
import { permissionsOf } from './declared-permissions.ts';
import { installNamespace } from './install-namespace.ts';
import { installNamespaceManifests } from './install-namespace-manifests.ts';
import { defineOperator } from './operator.ts';
import { rbacManifests } from './rbac-manifests.ts';
import { withConfig } from './with-config.ts';
import { withinNamespaces } from './within-namespaces.ts';

interface Config {
  readonly operandNamespace: string;
}

const PRIVILEGED = { 'pod-security.kubernetes.io/enforce': 'privileged' };
const operands = installNamespace('operands', (config: Config) => config.operandNamespace, { labels: PRIVILEGED });
const inOperands = { namespaces: [operands.name] };

const nodes = controller(Node, { name: 'nodes' })
  .owns(ConfigMap, inOperands)
  .applies(ServiceAccount, { ...inOperands, remove: true })
  .reconcile(() => {});
const reported = keyed('reported')
  .watches(Secret, { namespaces: ['a', operands.name], map: () => [] })
  .reports(Secret, inOperands)
  .reconcile(() => {});
const review = validating(ConfigMap, { name: 'review', operations: ['CREATE'] })
  .reads(Secret, { ...inOperands, as: 'secrets' })
  .handle(() => admit());

const options = {
  name: 'spire',
  domain: 'example.com',
  config: s.object({ operandNamespace: s.string().default('spire'), allowTokens: s.boolean().default(false) }),
  setup: () => undefined,
  controllers: [nodes, reported],
  webhooks: [review],
  namespaces: [operands],
  companions: [companion(ServiceAccount, 'agent').content(() => ({ metadata: { namespace: operands.name } }))],
};
const spire = defineOperator({
  ...options,
  permissions: ({ allowTokens }) =>
    allowTokens ? [allow(['create'], ServiceAccount, { subresource: 'token', namespaces: [operands.name] })] : [],
});

const rule = (group: string, resource: string, ...verbs: string[]) => ({
  apiGroups: [group],
  resources: [resource],
  verbs,
});

const expectedRules = [
  rule('', 'configmaps', 'get', 'list', 'watch', 'create', 'patch'),
  rule('', 'secrets', 'get', 'list', 'watch'),
  rule('', 'serviceaccounts', 'get', 'create', 'patch', 'delete'),
  rule('events.k8s.io', 'events', 'create', 'patch'),
];

describe('installNamespace', () => {
  it('limits all declarations that name it to the configured namespace', async () => {
    const rules = permissionsOf(await withConfig(spire, undefined));
    expect(rules.namespaces.spire).toEqual(expectedRules);
    expect(rules.namespaces.a).toEqual([rule('', 'secrets', 'get', 'list', 'watch')]);
    const other = await withConfig(spire, { operandNamespace: 'other', allowTokens: true });
    expect(permissionsOf(other).namespaces.other).toContainEqual(rule('', 'serviceaccounts/token', 'create'));
    const { controllers, webhooks, permissions } = other;
    expect(JSON.stringify([controllers, webhooks, permissions])).not.toContain(operands.name);
  });

  it('may be a namespace that is declared too, or that of the manager', async () => {
    const configured = await withConfig(spire, { operandNamespace: 'a' });
    expect(configured.controllers[1]?.sources[0]?.namespaces).toEqual(['a']);
    const roles = rbacManifests(configured, { namespace: 'a' }).filter(({ kind }) => kind === 'Role');
    expect(roles.map(({ metadata }) => metadata?.namespace)).toEqual(['a', 'default']);
  });

  it('is never assumed', () => {
    const unconfigured = expect.objectContaining({ code: 'BOWLINE_OPERATOR_UNCONFIGURED' });
    const constant = defineOperator({ ...options, permissions: [] });
    expect(() => permissionsOf(constant)).toThrow(unconfigured);
    expect(() => installNamespaceManifests([constant])).toThrow(unconfigured);
    expect(() => companionManifests(constant, { namespace: 'x' })).toThrow(unconfigured);
  });

  it('stays as it is when the operator is limited to namespaces, regardless of the order of the calls', async () => {
    const limitable = defineOperator({ ...options, controllers: [reported] });
    const section = { operandNamespace: 'b' };
    const limited = permissionsOf(await withConfig(withinNamespaces(limitable, ['c']), section));
    expect(Object.keys(limited.namespaces)).toEqual(['a', 'b']);
    expect(permissionsOf(withinNamespaces(await withConfig(limitable, section), ['c']))).toEqual(limited);
  });

  it('is created with its labels, once if several operators use the same', async () => {
    const configured = await withConfig(spire, { operandNamespace: 'other' });
    const also = installNamespace('work', () => 'other', { labels: { team: 'a' } });
    const second = await withConfig(defineOperator({ ...options, namespaces: [operands, also] }), undefined);
    expect(installNamespaceManifests([configured, second])).toEqual([
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other', labels: { ...PRIVILEGED, team: 'a' } } },
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'spire', labels: PRIVILEGED } },
    ]);
  });

  it('can be the namespace of a companion', async () => {
    const [agent] = companionManifests(await withConfig(spire, undefined), { namespace: 'manager' });
    expect(agent?.object.metadata?.namespace).toBe('spire');
  });

  it('can be the namespace of a sample', async () => {
    const sample = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: operands.name, name: 'a' } };
    const { samples } = await withConfig(defineOperator({ ...options, samples: [sample] }), undefined);
    expect(samples[0]?.metadata?.namespace).toBe('spire');
  });

  it('needs no configuration', async () => {
    const fixed = installNamespace('fixed', () => 'always');
    const operator = defineOperator({
      name: 'x',
      domain: 'example.com',
      namespaces: [fixed],
      controllers: [controller(ConfigMap, { namespaces: [fixed.name] }).reconcile(() => {})],
    });
    expect(Object.keys(permissionsOf(await withConfig(operator, undefined)).namespaces)).toEqual(['always']);
  });

  it('rejects a setting that is no name of a namespace', async () => {
    await expect(withConfig(spire, { operandNamespace: 'Not_A_Name' })).rejects.toMatchObject({
      code: 'BOWLINE_CONFIG_INVALID',
      message: expect.stringContaining('it names its namespace operands "Not_A_Name"'),
    });
  });

  it('has the type of the configuration', () => {
    const typed = installNamespace('typed', (config: Config) => {
      expectTypeOf(config).toEqualTypeOf<Config>();
      return '';
    });
    const { config: _, ...others } = options;
    const typeless = { ...others, controllers: [], webhooks: [], services: [{ name: 'a', run: async () => {} }] };
    // @ts-expect-error The namespace needs a setting that the configuration does not have.
    defineOperator({ ...typeless, config: s.object({ other: s.string() }), namespaces: [typed] });
  });
});

describe('defineOperator', () => {
  const unlisted = installNamespace('unlisted', () => 'x');
  it.each([
    ['a controller', { controllers: [controller(ConfigMap, { namespaces: [unlisted.name] }).reconcile(() => {})] }],
    ['a permission', { permissions: [allow(['get'], Secret, { namespaces: [unlisted.name, OWN_NAMESPACE] })] }],
  ])('refuses a namespace of %s that is not listed', (_, given) => {
    expect(() => defineOperator({ ...options, ...given })).toThrow(
      'it works in the namespace unlisted, which `namespaces` does not list; add it there',
    );
  });

  it('refuses two namespaces of one id, and an id that is no DNS label', () => {
    expect(() => defineOperator({ ...options, namespaces: [operands, operands] })).toThrow('used twice');
    const odd = installNamespace('a b', () => 'x');
    expect(() => defineOperator({ ...options, namespaces: [operands, odd] })).toThrow('must be a DNS label');
  });
});

it('withConfig refuses a computed permission in a namespace that is not listed', async () => {
  const operator = defineOperator({
    ...options,
    permissions: () => [allow(['get'], Secret, { namespaces: [installNamespace('unlisted', () => 'x').name] })],
  });
  await expect(withConfig(operator, undefined)).rejects.toMatchObject({ code: 'BOWLINE_OPERATOR_INVALID' });
});
