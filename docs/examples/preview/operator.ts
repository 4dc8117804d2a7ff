import { allow, defineOperator } from '@bowline/runtime';
import { s } from '@bowline/runtime/resource';
import { previewController } from './controller.ts';
import { connectDns } from './dns.ts';
import { hosts } from './hosts.ts';
import { Preview } from './preview.ts';

/** previews runs copies of an application for pull requests. */
export const previews = defineOperator({
  name: 'previews',
  domain: 'example.com',
  resources: [Preview],
  controllers: [previewController],
  webhooks: [hosts],
  // A Preview whose time is over is deleted; everything else follows from the declarations.
  permissions: [allow(['delete'], Preview)],
  config: s.object({
    dnsUrl: s.string().format('uri').describe('The address of the DNS provider.'),
    domain: s.dnsSubdomain().default('preview.example.com').describe('What every address ends with.'),
    gateway: s
      .string()
      .format('ipv4')
      .default('203.0.113.7')
      .describe('Where the cluster takes requests from outside.'),
  }),
  setup: ({ config: { dnsUrl, domain, gateway } }) => ({ dns: connectDns(dnsUrl), domain, gateway }),
});
