import { ConfigMap } from '@bowline/kubernetes';
import { expect, it } from 'vitest';
import { Cache } from '../cache/cache.ts';
import { createClient } from '../client/create-client.ts';
import { ScriptedTransport } from '../client/scripted-transport.test-support.ts';
import { admit } from './admission-response.ts';
import { validating } from './declare.ts';
import { startWebhooks } from './start-webhooks.ts';

it('does not start with a match condition that the API server rejects, and reports where it is', async () => {
  const matchConditions = [{ name: 'a', expression: '1' }];
  const gate = validating(ConfigMap, { name: 'gate', operations: ['CREATE'], matchConditions }).handle(() => admit());
  const client = createClient({ transport: new ScriptedTransport() });
  const starting = startWebhooks({
    operator: 'sea',
    domain: 'bowline.dev',
    webhooks: [gate],
    namespace: 'sea-system',
    client,
    cache: new Cache({ client }),
    address: '127.0.0.1:0',
    signal: new AbortController().signal,
  });
  await expect(starting).rejects.toMatchObject({
    code: 'BOWLINE_WEBHOOK_INVALID',
    message:
      'cannot serve the webhook "gate": the matchCondition "a" cannot work: "1" is of type int, but must be a bool',
  });
});
