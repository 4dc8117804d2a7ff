import { cluster } from '@bowline/control-plane/testing';
import { ConfigMap, ValidatingWebhookConfiguration } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { admit } from './admission-response.ts';
import { webhookConfigurations } from './configurations.ts';
import { validating } from './declare.ts';
import { ACCEPTED, REFUSED } from './match-conditions.test-support.ts';

it('accepts and rejects the same conditions as the API server', async () => {
  await using c = await cluster();
  const webhook = validating(ConfigMap, { name: 'gate', operations: ['CREATE'] }).handle(() => admit());
  const { validating: made } = webhookConfigurations({
    operator: c.uniqueName(),
    domain: 'bowline.dev',
    webhooks: [webhook],
    address: { url: 'https://127.0.0.1:1' },
    ownNamespace: c.namespace,
  });
  const verdict = async (expression: string): Promise<string> => {
    const webhooks = made?.webhooks?.map((each) => ({ ...each, matchConditions: [{ name: 'a', expression }] })) ?? [];
    const create = c.admin.create(ValidatingWebhookConfiguration, { ...made, webhooks }, { dryRun: true });
    return await create.then(
      () => 'accepted',
      (error: { reason: string }) => error.reason,
    );
  };
  for (const expression of ACCEPTED) expect([expression, await verdict(expression)]).toEqual([expression, 'accepted']);
  for (const [expression] of REFUSED) expect([expression, await verdict(expression)]).toEqual([expression, 'Invalid']);
});
