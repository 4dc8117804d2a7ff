import { applyDefaults, validate } from '@bowline/machinery/schema';
import { expect, it } from 'vitest';
import { type Config, config } from './config.ts';

it('the configuration has defaults for everything that has one', () => {
  const defaults: Config = {
    webhookReceiverPort: 8443,
    webhookReceiverHost: '',
    allowUnauthenticatedWebhooks: false,
    acceptDuplicatesWith: 200,
    webhookRateLimit: 100,
    gitConcurrency: 5,
    gitTimeout: '2m',
    maxRepositoryMiB: 2048,
    allowPlainHttp: false,
    agentUser: 2003,
    githubApps: false,
    requireNamespaceLabel: false,
    trustAllAuthors: false,
    perObjectMetrics: false,
  };
  expect(applyDefaults({}, config.json)).toEqual(defaults);
});

it.each<[string, object]>([
  ['webhookReceiverPort', { webhookReceiverPort: 65_536 }],
  ['webhookReceiverPort', { webhookReceiverPort: -1 }],
  ['receiverSecret.name', { receiverSecret: {} }],
  ['acceptDuplicatesWith', { acceptDuplicatesWith: 201 }],
  ['webhookRateLimit', { webhookRateLimit: 0 }],
  ['gitConcurrency', { gitConcurrency: 0 }],
  ['gitTimeout', { gitTimeout: '0s' }],
  ['gitTimeout', { gitTimeout: 'soon' }],
  ['maxRepositoryMiB', { maxRepositoryMiB: 0 }],
  ['proxy.https', { proxy: { https: 'socks5://proxy' } }],
  ['agentUser', { agentUser: 0 }],
])('refuses %s %j', (field, settings) => {
  expect(validate(applyDefaults(settings, config.json), config.json).map((problem) => problem.field)).toContain(field);
});
