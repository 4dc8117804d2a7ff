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
  // Expired Previews are deleted; all other permissions are derived from the declarations.
  permissions: [allow(['delete'], Preview)],
  config: s.object({
    dnsUrl: s.string().format('uri').describe('The address of the DNS provider.'),
    domain: s.dnsSubdomain().default('preview.example.com').describe('The domain of all hosts.'),
    gateway: s.string().format('ipv4').default('203.0.113.7').describe('The external IP address of the cluster.'),
  }),
  setup: ({ config: { dnsUrl, domain, gateway } }) => ({ dns: connectDns(dnsUrl), domain, gateway }),
});
