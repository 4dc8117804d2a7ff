import { ConfigMap, type LabelSelector, Secret } from '@bowline/kubernetes';
import { s } from '@bowline/machinery/schema';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { controller } from '../controller/builder.ts';
import { allow } from '../permissions/permission.ts';
import { admit } from '../webhook/admission-response.ts';
import { webhookConfigurations } from '../webhook/configurations.ts';
import { mutating } from '../webhook/declare.ts';
import { permissionsOf } from './declared-permissions.ts';
import { defineOperator, type Operator } from './operator.ts';
import { withConfig } from './with-config.ts';
import { withinNamespaces } from './within-namespaces.ts';

const controllers = [controller(ConfigMap).reconcile(() => {})];

const tidy = defineOperator({
  name: 'tidy',
  domain: 'bowline.dev',
  controllers,
  config: s.object({ allowDeletion: s.boolean().default(false), names: s.array(s.string()).optional() }),
  permissions: (config) => {
    expectTypeOf(config.allowDeletion).toEqualTypeOf<boolean>();
    return config.allowDeletion ? [allow(['delete'], Secret, { names: config.names })] : [];
  },
});

const deletion = { apiGroups: [''], resources: ['secrets'], verbs: ['delete'] };

describe('withConfig', () => {
  it('determines the permissions from a configuration and its defaults', async () => {
    expect(permissionsOf(await withConfig(tidy, undefined)).cluster).not.toContainEqual(deletion);
    expect(permissionsOf(await withConfig(tidy, { allowDeletion: true })).cluster).toContainEqual(deletion);
    const named = permissionsOf(await withConfig(tidy, { allowDeletion: true, names: ['a'] }));
    expect(named.cluster).toContainEqual({ ...deletion, resourceNames: ['a'] });
  });

  it('limits them to namespaces, regardless of the order of the calls', async () => {
    const section = { allowDeletion: true };
    const limited = permissionsOf(await withConfig(withinNamespaces(tidy, ['a']), section));
    expect(limited.namespaces.a).toContainEqual(deletion);
    expect(limited.cluster).toEqual([]);
    expect(permissionsOf(withinNamespaces(await withConfig(tidy, section), ['a']))).toEqual(limited);
  });

  it('rejects an invalid configuration', async () => {
    const invalid = withConfig(tidy, { allowDeletion: 'yes' });
    await expect(invalid).rejects.toMatchObject({ code: 'BOWLINE_CONFIG_INVALID' });
  });

  it('returns an operator unchanged whose permissions do not depend on its configuration', async () => {
    const plain = defineOperator({
      name: 'plain',
      domain: 'bowline.dev',
      controllers,
      permissions: [allow(['get'], Secret)],
    });
    expect(await withConfig(plain, { any: 'thing' })).toBe(plain);
  });
});

describe('a namespace selector of a webhook that depends on the configuration', () => {
  const hook = (selector: (config: { readonly sea: string }) => LabelSelector) =>
    mutating(ConfigMap, { name: 'mark', operations: ['CREATE'], namespaceSelector: selector }).handle(() => admit());
  const config = s.object({ sea: s.string().default('north') });
  const marking = (selector: (config: { readonly sea: string }) => LabelSelector) =>
    defineOperator({ name: 'marking', domain: 'bowline.dev', webhooks: [hook(selector)], config });
  const selectorOf = ({ webhooks }: Operator) =>
    webhookConfigurations({
      operator: 'marking',
      domain: 'bowline.dev',
      webhooks,
      ownNamespace: 'own',
      address: { url: 'https://127.0.0.1:1' },
    }).mutating?.webhooks?.[0]?.namespaceSelector;

  it('is in the webhook configuration', async () => {
    const operator = marking(({ sea }) => ({ matchLabels: { sea } }));
    expect(selectorOf(await withConfig(operator, undefined))?.matchLabels).toEqual({ sea: 'north' });
    const south = selectorOf(await withConfig(operator, { sea: 'south' }));
    expect(south?.matchLabels).toEqual({ sea: 'south' });
    expect(south?.matchExpressions).toEqual([
      { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['own'] },
    ]);
  });

  it('is rejected if it is not valid', async () => {
    const configured = withConfig(
      marking(({ sea }) => ({ matchLabels: { sea } })),
      { sea: 'not a label value' },
    );
    await expect(configured).rejects.toMatchObject({ code: 'BOWLINE_WEBHOOK_INVALID' });
  });

  it('must accept the configuration of the operator', () => {
    const other = s.object({ lake: s.string().default('') });
    // @ts-expect-error the configuration has no "sea".
    defineOperator({ name: 'marking', domain: 'bowline.dev', webhooks: [hook(() => ({}))], config: other });
  });
});

it('permissionsOf rejects an operator that is not configured', () => {
  expect(() => permissionsOf(tidy)).toThrow(expect.objectContaining({ code: 'BOWLINE_OPERATOR_UNCONFIGURED' }));
});
